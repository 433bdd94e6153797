// Placeholder until the session is known. CSS shows it only after a delay.
export function StartingView() {
  return (
    <div class="starting" role="status" aria-busy="true">
      <span class="visually-hidden">Loading…</span>
      <span class="skeleton title" />
      <div class="card starting-facts">
        {['first', 'second', 'third', 'fourth'].map((name) => (
          <span key={name} class="skeleton" />
        ))}
      </div>
      <div class="card starting-rows">
        {Array.from({ length: 8 }, (_row, row) => (
          <span key={row} class="skeleton" />
        ))}
      </div>
    </div>
  );
}
