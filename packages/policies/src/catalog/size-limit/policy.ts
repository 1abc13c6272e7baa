import { definePolicy } from '@sluice/core'
import { about } from '../../shared/about.js'
import { requestHooks } from './request.js'
import { responseHooks } from './response.js'
import { sizeLimitSchema } from './schema.js'

/** Bounds the sizes of requests and responses. */
export const sizeLimit = definePolicy({
  name: 'size-limit',
  summary: 'Bounds the sizes of requests and responses: headers, URL and body.',
  schema: sizeLimitSchema,
  compile({ request, response }, env) {
    return {
      name: 'size-limit',
      ...(request !== undefined && about("under 'request':", () => requestHooks(request, env))),
      ...(response !== undefined && about("under 'response':", () => responseHooks(response, env))),
    }
  },
})
