import { definePolicy, preflightMethod } from '@sluice/core'
import { credentialWarnings } from './credential-warnings.js'
import { compileOrigins } from './origins.js'
import { compilePreflight } from './preflight.js'
import { compileResponse } from './response.js'
import { corsSchema } from './schema.js'

/** Lets pages of other origins call the API (Fetch standard, 3.2). */
export const cors = definePolicy({
  name: 'cors',
  summary:
    'Lets pages of other origins call the API from browsers, and responds to their preflight requests.',
  schema: corsSchema,
  answersPreflights: true,
  warnings: ({ origins, credentials }) => (credentials === true ? origins.flatMap(credentialWarnings) : []),
  compile(config, env) {
    const origins = compileOrigins(config.origins, config.credentials ?? false)
    const answer = compilePreflight(config, origins, env)
    const mark = compileResponse(config, origins)
    return {
      name: 'cors',
      onRequest: (x) => (preflightMethod(x) === null ? null : answer(x)),
      onResponse(x) {
        mark(x)
        return null
      },
    }
  },
})
