/** What micro-benchmarks measure; nothing else imports from here. */
export type { Candidate } from './router/candidate.js'
export { compileRouter } from './router/router.js'
