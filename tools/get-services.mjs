import { provideServices, services } from './services.mjs'

/**
 * `npm run services`: gets what the tests need, and prints the variables for running a test file by hand; with names,
 * services beside them that take long.
 */
const problems = provideServices(process.argv.slice(2))
for (const problem of problems) console.error(problem)
for (const { environment } of services) {
  for (const name of Object.keys(environment?.() ?? {})) {
    if (process.env[name] !== undefined) console.log(`export ${name}=${process.env[name]}`)
  }
}
process.exit(problems.length === 0 ? 0 : 1)
