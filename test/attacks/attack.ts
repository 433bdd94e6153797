// The process of an attacker: runs one row of the table and prints what it saw as JSON. Its priority is low, because a real
// attacker has a machine of its own.
import { setPriority } from 'node:os';
import { Attacker, type AttackerInput } from './attacker.ts';
import { ROWS, type RowName } from './rows.ts';

export interface AttackInput extends AttackerInput {
  readonly row: RowName;
}

if (import.meta.main) {
  setPriority(5);
  const input = JSON.parse(process.argv[2]!) as AttackInput;
  const attacker = new Attacker(input);
  await ROWS[input.row].attack(attacker);
  attacker.leave();
  console.log(JSON.stringify(attacker.seen));
  process.exit(); // whatever timers are left
}
