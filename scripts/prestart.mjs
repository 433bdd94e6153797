// Builds the console before the service starts. Plain JavaScript that any Node can parse. Does nothing if Node is too old,
// because the service itself then says what to do. The service starts even if the build fails.
import process from 'node:process';

if (Number(process.versions.node.split('.')[0]) >= 26) {
  await import('./build-web.ts').catch((error) => {
    console.error(`The console could not be built (npm run build:web): ${error.message}`);
  });
}
