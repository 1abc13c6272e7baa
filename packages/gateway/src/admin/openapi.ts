import { OPENAPI_SCHEMAS } from './openapi-schemas.js'

const problem = (description: string) => ({
  description,
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
})

const json = (description: string, schema: string) => ({
  description,
  content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } },
})

/** What any call that needs a token can meet. */
const REFUSALS = {
  401: problem('The token is missing or not valid.'),
  403: problem('The role is not sufficient, or the Host or Origin field is refused.'),
  429: problem('Too many wrong tokens from this address; Retry-After says how long.'),
}

/** What a write of a document can answer. */
const APPLY_RESPONSES = {
  200: json('Applied, unchanged or (dry run) valid.', 'Applied'),
  400: problem('If-Match or the body is malformed.'),
  ...REFUSALS,
  409: problem('A worker objected; `reasons` says which and why. Nothing has changed.'),
  412: problem('Another plan serves than If-Match names.'),
  413: problem('The document is larger than 4 MB.'),
  415: problem('The content type is not supported.'),
  422: problem('The document is not valid; `diagnostics` lists every mistake. Nothing has changed.'),
  503: problem('Too many deploys are waiting, or the gateway is draining.'),
}

const IF_MATCH = {
  name: 'If-Match',
  in: 'header',
  description: 'The ETag of GET /v1/plan; the write happens only if that plan still serves.',
  schema: { type: 'string' },
}

const DOCUMENT = { schema: { type: 'string', maxLength: 4_194_304 } }

/** A GET that answers JSON of one schema. */
const read = (summary: string, schema: string, more: object = {}) => ({
  get: { summary, responses: { 200: json('OK.', schema), ...REFUSALS, ...more } },
})

/** A POST that names a document that waits. */
const settleOf = (summary: string, responses: object) => ({
  post: {
    summary,
    requestBody: {
      required: true,
      content: { 'application/json': { schema: { $ref: '#/components/schemas/HeldDigest' } } },
    },
    responses: { ...responses, 404: problem('No such document waits.') },
  },
})

/** A POST that names targets. */
const drainOf = (summary: string) => ({
  post: {
    summary,
    requestBody: {
      required: true,
      content: { 'application/json': { schema: { $ref: '#/components/schemas/TargetName' } } },
    },
    responses: {
      200: json('The workers know it.', 'TargetStates'),
      400: problem('The body is malformed.'),
      ...REFUSALS,
      404: problem('There is no such upstream or target.'),
    },
  },
})

const STORE_DOWN = { 503: problem('The server of `state` does not answer.') }

/** A GET of counts. */
const ONE_POLICY = {
  name: 'policy',
  in: 'query',
  description: 'Only this policy.',
  schema: { type: 'string' },
}

const countsOf = (summary: string) => ({
  get: {
    summary,
    parameters: [
      ONE_POLICY,
      { name: 'key', in: 'query', description: 'Only this key of it.', schema: { type: 'string' } },
    ],
    responses: {
      200: json('OK.', 'Counts'),
      400: problem('There is a key without a policy.'),
      ...REFUSALS,
      404: problem('There is no such policy.'),
      ...STORE_DOWN,
    },
  },
})

/** A POST that changes counts; workers follow within a second. */
const changeOf = (summary: string, asked: string, answered: string) => ({
  post: {
    summary,
    requestBody: {
      required: true,
      content: { 'application/json': { schema: { $ref: `#/components/schemas/${asked}` } } },
    },
    responses: {
      200: json('Workers follow within a second.', answered),
      400: problem('The body is malformed.'),
      ...REFUSALS,
      404: problem('There is no such policy.'),
      ...STORE_DOWN,
    },
  },
})

const NO_PLAN = { 503: problem('No configuration is active yet.') }

/** The admin API in OpenAPI 3.1, as `GET /openapi.json` answers it. */
export const OPENAPI = {
  openapi: '3.1.0',
  info: {
    title: 'Sluice admin API',
    version: '1',
    description:
      'Shows and changes a running gateway. On loopback without tokens every caller is an admin; otherwise send ' +
      '`Authorization: Bearer TOKEN`. Roles: viewer reads, operator also drains, admin also deploys.',
  },
  security: [{ token: [] }],
  paths: {
    '/healthz': {
      get: {
        summary: 'Whether the event loop turns',
        security: [],
        responses: { 200: json('Alive.', 'Health') },
      },
    },
    '/readyz': {
      get: {
        summary: 'Whether the gateway serves its configuration',
        security: [],
        responses: { 200: json('Ready.', 'Health'), 503: problem('Not ready; the detail says why.') },
      },
    },
    '/openapi.json': read('This document', 'OpenApi'),
    '/metrics': {
      get: {
        summary: 'Numbers of all workers and the supervisor, Prometheus text format 0.0.4',
        responses: {
          200: { description: 'OK.', content: { 'text/plain': { schema: { type: 'string' } } } },
          ...REFUSALS,
          404: problem('Metrics are off.'),
        },
      },
    },
    '/v1/status': read('Workers, listeners, the plan that serves and the last rollout', 'Status'),
    '/v1/plan': read('The plan that serves, secrets replaced; its digest is the ETag', 'Plan', NO_PLAN),
    '/v1/routes': read('The routes in the order in which they win', 'Routes', NO_PLAN),
    '/v1/upstreams': read('The upstreams with their targets and numbers', 'Upstreams', NO_PLAN),
    '/v1/log': read('Where every record of the traffic log is', 'Log'),
    '/v1/deploys': read('The last documents that went into service, newest first', 'Deploys'),
    '/v1/config': {
      put: {
        summary: 'Applies a document on all workers or on none',
        parameters: [
          {
            name: 'dryRun',
            in: 'query',
            description: '1 or true: only says what would change.',
            schema: { enum: ['1', 'true', '0', 'false'] },
          },
          {
            name: 'save',
            in: 'query',
            description:
              '1 or true: also writes the document to the file that the gateway was started with. The answer has `isSaved`, and `notSaved` with the reason if the file could not be written.',
            schema: { enum: ['1', 'true', '0', 'false'] },
          },
          { name: 'note', in: 'query', schema: { type: 'string', maxLength: 500 } },
          {
            name: 'hold',
            in: 'query',
            description:
              'A time from 1s to 5m: the document is prepared by all workers and waits so long for /v1/config/activate, then it is discarded. For fleets, whose gateways change together.',
            schema: { type: 'string' },
          },
          IF_MATCH,
        ],
        requestBody: {
          required: true,
          content: {
            'application/yaml': DOCUMENT,
            'text/yaml': DOCUMENT,
            'application/json': { schema: {} },
          },
        },
        responses: APPLY_RESPONSES,
      },
    },
    '/v1/config/activate': settleOf('Activates the document that was prepared with `hold`', APPLY_RESPONSES),
    '/v1/config/discard': settleOf('Gives up the document that was prepared with `hold`', {
      200: json('What served before goes on serving.', 'Discarded'),
      400: problem('The body is malformed.'),
      ...REFUSALS,
    }),
    '/v1/rollback': {
      post: {
        summary: 'Applies an earlier document again',
        parameters: [IF_MATCH],
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Rollback' } } },
        },
        responses: { ...APPLY_RESPONSES, 404: problem('There is no such deploy.') },
      },
    },
    '/v1/upstreams/drain': drainOf('Sends nothing more to targets of an upstream, until they are undrained'),
    '/v1/upstreams/undrain': drainOf('Sends requests to drained targets again'),
    '/v1/cache': read('What response-cache keeps and has counted, of all workers', 'Cache'),
    '/v1/cache/stored': {
      get: {
        summary: 'The responses that the workers keep under a key, without their bodies',
        parameters: [
          { name: 'key', in: 'query', required: true, schema: { type: 'string', maxLength: 16_384 } },
        ],
        responses: { 200: json('OK.', 'StoredResponses'), 400: problem('The key is too long.'), ...REFUSALS },
      },
    },
    '/v1/cache/purge': {
      post: {
        summary: 'Has all workers forget stored responses: by key, by the beginning of a key, by tag, or all',
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { $ref: '#/components/schemas/PurgeScope' } } },
        },
        responses: {
          200: json(
            'How many were forgotten; a worker that has not answered in time does so later.',
            'Purged',
          ),
          400: problem('The body is malformed.'),
          ...REFUSALS,
        },
      },
    },
    '/v1/limits': countsOf('What rate limits have counted'),
    '/v1/quotas': countsOf('What quotas have counted in their period'),
    '/v1/limits/reset': changeOf('Lets counts of a rate limit begin anew', 'CountName', 'CountsReset'),
    '/v1/quotas/reset': changeOf('Lets counts of a quota begin anew', 'CountName', 'CountsReset'),
    '/v1/quotas/set': changeOf('Sets what is used of a quota', 'QuotaUse', 'Counts'),
    '/v1/bans': {
      get: {
        summary: 'Whom client-ban has banned',
        parameters: [ONE_POLICY],
        responses: {
          200: json('OK.', 'Bans'),
          ...REFUSALS,
          404: problem('There is no such policy.'),
          ...STORE_DOWN,
        },
      },
    },
    '/v1/bans/lift': changeOf('Ends bans early', 'CountName', 'BansLifted'),
    '/v1/drain': {
      post: {
        summary: 'Ends the gateway after its requests in flight',
        responses: { 202: json('Draining has begun.', 'Drain'), ...REFUSALS },
      },
    },
  },
  components: {
    securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    schemas: OPENAPI_SCHEMAS,
  },
}
