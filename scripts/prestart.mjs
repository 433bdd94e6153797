// Plain JavaScript that any Node can parse: builds the console before the service starts. Under a Node that is too old it
// does nothing, because the service itself then says what to do. A build that fails does not keep the service from starting.
import process from 'node:process';

if (Number(process.versions.node.split('.')[0]) >= 26) {
  await import('./build-web.ts').catch((error) => {
    console.error(`The console could not be built (npm run build:web): ${error.message}`);
  });
}
