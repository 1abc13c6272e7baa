import {
  type CompileEnv,
  definePolicy,
  type Exchange,
  type Outcome,
  removeHeader,
  type Step,
} from '@sluice/core'
import { removeLookalikes } from '../../shared/message/spoofed-fields.js'
import { awsSigV4Scheme } from './aws-sig-v4-scheme.js'
import { digestScheme } from './digest-scheme.js'
import { apiKeyScheme, basicScheme, bearerScheme } from './fixed-scheme.js'
import { oauth2Scheme } from './oauth2-scheme.js'
import { type BackendAuthConfig, backendAuthSchema } from './schema.js'
import type { Scheme } from './scheme.js'

/** Authenticates the gateway at the upstream. */
export const backendAuth = definePolicy({
  name: 'backend-auth',
  summary:
    'Authenticates at the upstream with Basic, an API key, a bearer token, OAuth 2.0, Digest, or AWS Signature Version 4.',
  schema: backendAuthSchema,
  cost: 'io',
  secretNames: ({ apiKey, oauth2 }) =>
    [apiKey?.name, oauth2?.subjectHeader].filter((name) => name !== undefined),
  compile(config, env): Step {
    const scheme = schemeOf(config, env)
    const { onRequest, onAttempt, onRejected } = scheme
    const fields = config.passThrough ? [] : clientFields(scheme)
    return {
      name: 'backend-auth',
      ...(onRequest !== undefined && { onRequest }),
      ...(scheme.needsBody && { onRequestBody: collect }),
      onAttempt:
        fields.length === 0
          ? onAttempt
          : (x: Exchange) => {
              for (const name of fields) {
                removeHeader(x.headers, name)
                removeLookalikes(x.headers, name)
              }
              return onAttempt(x)
            },
      ...(onRejected !== undefined && { onRejected }),
    }
  },
})

/** Returns the fields that contain the client's credentials, which the upstream must not receive. */
function clientFields({ setsAuthorization, clientField }: Scheme): readonly string[] {
  return [
    ...(setsAuthorization ? [] : ['authorization']),
    ...(clientField === undefined || clientField === 'authorization' ? [] : [clientField]),
  ]
}

function schemeOf(config: BackendAuthConfig, env: CompileEnv): Scheme {
  const { basic, apiKey, bearer, oauth2, digest, awsSigV4 } = config
  const makers = [
    basic && (() => basicScheme(basic)),
    apiKey && (() => apiKeyScheme(apiKey)),
    bearer && (() => bearerScheme(bearer)),
    oauth2 && (() => oauth2Scheme(oauth2, env)),
    digest && (() => digestScheme(digest, env)),
    awsSigV4 && (() => awsSigV4Scheme(awsSigV4)),
  ].filter((make) => make !== undefined)
  const [make] = makers
  if (make === undefined || makers.length > 1)
    throw new Error('write exactly one of basic, apiKey, bearer, oauth2, digest and awsSigV4')
  return make()
}

/** Does nothing: a step with this hook makes the gateway buffer the request body. */
function collect(): Outcome {
  return null
}
