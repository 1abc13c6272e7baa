import { provideServices, services } from './services/services.mjs'

/**
 * `npm run services`: installs the services of the tests and prints the environment variables for running a test file by
 * hand. Names add services that take long to build.
 */
const problems = provideServices(process.argv.slice(2))
for (const problem of problems) console.error(problem)
for (const { environment } of services) {
  for (const name of Object.keys(environment?.() ?? {})) {
    if (process.env[name] !== undefined) console.log(`export ${name}=${process.env[name]}`)
  }
}
process.exit(problems.length === 0 ? 0 : 1)
