import { drainOf, json, problem, REFUSALS, settleOf } from './openapi-answers.js'
import { OPENAPI_SCHEMAS } from './openapi-schemas.js'

/** Responses of a write of a document. */
const APPLY_RESPONSES = {
  200: json('Applied, unchanged or (dry run) valid.', 'Applied'),
  400: problem('If-Match or the body is malformed.'),
  ...REFUSALS,
  409: problem('A worker could not prepare it; `reasons` tells which and why. Nothing has changed.'),
  412: problem('The active plan is not the one in If-Match.'),
  413: problem('The document is larger than 4 MB.'),
  415: problem('The content type is not supported.'),
  422: problem('The document is invalid; `diagnostics` lists all errors. Nothing has changed.'),
  503: problem('Too many deploys are waiting, or the gateway is draining.'),
}

const FORCE = {
  name: 'force',
  in: 'query',
  description: '1 or true: replace the configuration of a controller until its next deploy or a restart.',
  schema: { enum: ['1', 'true', '0', 'false'] },
}

const IF_MATCH = {
  name: 'If-Match',
  in: 'header',
  description: 'ETag of GET /v1/plan. The write happens only if that plan is still active.',
  schema: { type: 'string' },
}

const DOCUMENT = { schema: { type: 'string', maxLength: 4_194_304 } }

/** Describes a GET that returns JSON. */
const read = (summary: string, schema: string, more: object = {}) => ({
  get: { summary, responses: { 200: json('OK.', schema), ...REFUSALS, ...more } },
})

const STORE_DOWN = { 503: problem('The server of `state` does not answer.') }

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

/** Describes a POST that changes counts. Workers follow within a second. */
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

const RECORD_FILTERS = [
  ['status', 'Such as 404, 5xx or 400-499.'],
  ['route', 'Route id.'],
  ['method', 'Method.'],
  ['path', 'Path prefix, or the whole path if it contains `*`, which matches any text.'],
  ['consumer', 'Id or name of a consumer.'],
  ['id', 'Request id.'],
  ['trace', 'Trace id.'],
  [
    'since',
    'Time from which requests ended, such as `at` of the previous answer. Older records are not read.',
  ],
] as const

/** The admin API in OpenAPI 3.1, as returned by `GET /openapi.json`. */
export const OPENAPI = {
  openapi: '3.1.0',
  info: {
    title: 'Sluice admin API',
    version: '1',
    description:
      'Shows and changes a running gateway. On loopback without tokens every caller is an admin; otherwise send ' +
      '`Authorization: Bearer TOKEN`. Roles: viewer can read, operator can also drain, admin can also deploy.',
  },
  security: [{ token: [] }],
  paths: {
    '/healthz': {
      get: {
        summary: 'Liveness: the supervisor’s event loop responds',
        security: [],
        responses: { 200: json('Alive.', 'Health') },
      },
    },
    '/readyz': {
      get: {
        summary: 'Readiness: the gateway serves its configuration',
        security: [],
        responses: { 200: json('Ready.', 'Health'), 503: problem('Not ready; the detail gives the reason.') },
      },
    },
    '/openapi.json': read('This document', 'OpenApi'),
    '/metrics': {
      get: {
        summary: 'Metrics of all workers and the supervisor, Prometheus text format 0.0.4',
        responses: {
          200: { description: 'OK.', content: { 'text/plain': { schema: { type: 'string' } } } },
          ...REFUSALS,
          404: problem('Metrics are off.'),
        },
      },
    },
    '/v1/metrics': read('Requests, errors and latency by route, from the samples of /metrics', 'Metrics'),
    '/v1/status': read('Workers, listeners, the active plan and the last rollout', 'Status'),
    '/v1/plan': read('The active plan with secrets masked; its digest is the ETag', 'Plan', NO_PLAN),
    '/v1/routes': read('The routes in matching order', 'Routes', NO_PLAN),
    '/v1/upstreams': read('The upstreams with their targets and metrics', 'Upstreams', NO_PLAN),
    '/v1/log': read('Delivery counts of the traffic log', 'Log'),
    '/v1/deploys': read('The most recent deploys, newest first', 'Deploys'),
    '/v1/deploys/diff': {
      get: {
        summary: 'The changes between two deploys, with secrets masked',
        parameters: [
          {
            name: 'from',
            in: 'query',
            description: 'Id of a deploy. Default: the one before.',
            schema: { type: 'string' },
          },
          {
            name: 'to',
            in: 'query',
            description: 'Id of a deploy. Default: the newest.',
            schema: { type: 'string' },
          },
        ],
        responses: {
          200: json('OK.', 'Changes'),
          400: problem('A document is not valid any more.'),
          ...REFUSALS,
          404: problem('There is no such deploy.'),
          503: problem('Too many questions are waiting.'),
        },
      },
    },
    '/v1/explain': {
      post: {
        summary: 'Explains what the active plan does with a request, as `gw explain` does; nothing is sent',
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { $ref: '#/components/schemas/ExplainedRequest' } } },
        },
        responses: {
          200: json('OK.', 'Explanation'),
          400: problem('The request is malformed.'),
          ...REFUSALS,
          503: problem('Too many questions are waiting, or no configuration is active yet.'),
        },
      },
    },
    '/v1/records': {
      get: {
        summary: 'The newest records of the traffic log that match, without headers and bodies',
        parameters: [
          ...RECORD_FILTERS.map(([name, description]) => ({
            name,
            in: 'query',
            description,
            schema: { type: 'string', maxLength: 1024 },
          })),
          { name: 'minMs', in: 'query', description: 'Minimum duration.', schema: { type: 'integer' } },
          { name: 'limit', in: 'query', schema: { type: 'integer', default: 100, maximum: 500 } },
        ],
        responses: {
          200: json('OK.', 'Records'),
          400: problem('A filter is invalid.'),
          ...REFUSALS,
          503: problem('The log cannot be read, or too many searches run.'),
        },
      },
    },
    '/v1/records/explain': {
      get: {
        summary:
          'The newest record with an id, and why the request got its response, as `gw explain --id` does',
        parameters: [
          { name: 'id', in: 'query', required: true, schema: { type: 'string', maxLength: 1024 } },
        ],
        responses: {
          200: json('OK.', 'ExplainedRecord'),
          400: problem('The id is missing.'),
          ...REFUSALS,
          404: problem('There is no such record.'),
          503: problem('The log cannot be read, or too many searches run.'),
        },
      },
    },
    '/v1/step-traces': {
      post: {
        summary: 'Streams what each policy does to live requests of all workers, with secrets masked',
        description:
          'The first line is `{"kind":"armed"}` once all workers trace, the last one `{"kind":"end"}`. Ends after `count` requests or `seconds`, or when the client disconnects.',
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { $ref: '#/components/schemas/StepTraceRequest' } } },
        },
        responses: {
          200: {
            description: 'One JSON object per line.',
            content: { 'application/x-ndjson': { schema: { $ref: '#/components/schemas/StepTraceLine' } } },
          },
          400: problem('The body or the condition is malformed.'),
          ...REFUSALS,
          404: problem('There is no such route.'),
          503: problem('Too many step traces are open, or no configuration is active yet.'),
        },
      },
    },
    '/v1/config': {
      ...read('The active document as YAML with secrets masked', 'Document', NO_PLAN),
      put: {
        summary: 'Applies a document on all workers or on none',
        parameters: [
          {
            name: 'dryRun',
            in: 'query',
            description: '1 or true: report the changes without applying them.',
            schema: { enum: ['1', 'true', '0', 'false'] },
          },
          {
            name: 'save',
            in: 'query',
            description:
              '1 or true: also write the document to the file that the gateway was started with. The response has `isSaved`, and `notSaved` with the reason if the file could not be written.',
            schema: { enum: ['1', 'true', '0', 'false'] },
          },
          FORCE,
          { name: 'note', in: 'query', schema: { type: 'string', maxLength: 500 } },
          {
            name: 'hold',
            in: 'query',
            description:
              'A duration from 1s to 5m. All workers prepare the document and hold it for /v1/config/activate. After this time it is discarded. Use it to change several gateways together.',
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
    '/v1/config/discard': settleOf('Discards the document that was prepared with `hold`', {
      200: json('The previous document stays active.', 'Discarded'),
      400: problem('The body is malformed.'),
      ...REFUSALS,
    }),
    '/v1/rollback': {
      post: {
        summary: 'Applies an earlier document again',
        parameters: [FORCE, IF_MATCH],
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Rollback' } } },
        },
        responses: { ...APPLY_RESPONSES, 404: problem('There is no such deploy.') },
      },
    },
    '/v1/upstreams/drain': drainOf(
      'Stops sending requests to targets of an upstream until they are undrained',
    ),
    '/v1/upstreams/undrain': drainOf('Sends requests to drained targets again'),
    '/v1/cache': read('Contents and counters of response-cache in all workers', 'Cache'),
    '/v1/cache/stored': {
      get: {
        summary: 'The responses stored under a key in all workers, without bodies',
        parameters: [
          { name: 'key', in: 'query', required: true, schema: { type: 'string', maxLength: 16_384 } },
        ],
        responses: { 200: json('OK.', 'StoredResponses'), 400: problem('The key is too long.'), ...REFUSALS },
      },
    },
    '/v1/cache/purge': {
      post: {
        summary: 'Purges stored responses in all workers: by key, key prefix or tag, or all',
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { $ref: '#/components/schemas/PurgeScope' } } },
        },
        responses: {
          200: json(
            'Number of purged responses. Workers that did not answer in time purge theirs later.',
            'Purged',
          ),
          400: problem('The body is malformed.'),
          ...REFUSALS,
        },
      },
    },
    '/v1/limits': countsOf('Current counts of rate limits'),
    '/v1/quotas': countsOf('Counts of quotas in their current period'),
    '/v1/limits/reset': changeOf('Resets counts of a rate limit', 'CountName', 'CountsReset'),
    '/v1/quotas/reset': changeOf('Resets counts of a quota', 'CountName', 'CountsReset'),
    '/v1/quotas/set': changeOf('Sets the used count of a quota', 'QuotaUse', 'Counts'),
    '/v1/bans': {
      get: {
        summary: 'Clients banned by client-ban',
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
    '/v1/session': {
      ...read('Name and role of the caller', 'Session'),
      post: {
        summary: 'Logs in to the dashboard: sets a session cookie for a token',
        security: [],
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Login' } } },
        },
        responses: {
          200: json('Logged in. The cookie is HttpOnly and SameSite=Strict.', 'Session'),
          400: problem('The body is malformed.'),
          ...REFUSALS,
          404: problem('The dashboard is off.'),
        },
      },
      delete: {
        summary: 'Logs out of the dashboard',
        responses: { 200: json('The session is closed.', 'SessionClosed'), ...REFUSALS },
      },
    },
    '/v1/upgrade': {
      post: {
        summary: 'Replaces the running version by the one now installed, without a gap',
        responses: {
          200: json('The next version serves; this one finishes its requests.', 'Upgraded'),
          ...REFUSALS,
          409: problem('The next version did not start; `detail` says why. The running one continues.'),
          503: problem('An upgrade is in progress.'),
        },
      },
    },
    '/v1/drain': {
      post: {
        summary: 'Stops the gateway after its requests in flight',
        responses: { 202: json('Draining has begun.', 'Drain'), ...REFUSALS },
      },
    },
  },
  components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } }, schemas: OPENAPI_SCHEMAS },
}
