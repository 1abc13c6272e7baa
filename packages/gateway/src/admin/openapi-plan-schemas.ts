import { count, digest, listOf, object, ref, text, textOrNull } from './openapi-parts.js'

const policyUse = {
  id: text,
  use: { ...text, description: 'Name of the policy.' },
  when: textOrNull,
  with: { description: 'Options, with secrets masked.' },
}

/** Schemas of the parts of a plan, and of explanations. */
export const PLAN_SCHEMAS = {
  Routes: object({ digest, routes: listOf(ref('Route')) }),
  Route: {
    ...object({
      id: text,
      match: object({
        hosts: listOf(text),
        methods: listOf(text),
        path: object({ text }),
        when: textOrNull,
      }),
      action: object({ kind: { enum: ['proxy', 'respond', 'redirect'] } }, { upstream: text, status: count }),
      policies: listOf(ref('Policy')),
    }),
    description: 'A route of the plan; `gw render` prints all members.',
  },
  Policy: object(policyUse),
  Explanation: object({
    request: object({ method: text, scheme: text, host: text, path: text, query: text, clientIp: text }),
    outcome: { enum: ['routed', 'refused', 'health'] },
    refusal: {
      anyOf: [object({ status: count, code: text, detail: text }), { type: 'null' }],
    },
    route: { anyOf: [ref('ExplainedRoute'), { type: 'null' }] },
    losers: listOf(object({ id: text, path: text, failed: text, reason: text })),
  }),
  ExplainedRoute: object({
    id: text,
    path: text,
    params: { type: 'object', additionalProperties: text },
    policies: listOf(ref('ExplainedPolicy')),
    action: object(
      { kind: { enum: ['respond', 'redirect', 'proxy'] } },
      {
        status: count,
        location: textOrNull,
        upstream: text,
        path: textOrNull,
        targets: listOf(object({ url: text })),
      },
    ),
  }),
  ExplainedPolicy: object({
    ...policyUse,
    verdict: { enum: ['always', 'true', 'false', 'fails', 'unknown'] },
    meaning: listOf(text),
    cost: { enum: ['cheap', 'cpu', 'call'] },
    measured: { anyOf: [object({ addedMicros: { type: 'number' } }), { type: 'null' }] },
    buffers: { anyOf: [listOf({ enum: ['request', 'response'] }), { type: 'null' }] },
    decision: {
      anyOf: [object({ refusal: textOrNull, reason: text }), { type: 'null' }],
      description: 'Decision about the assumed consumer; null if it depends on more.',
    },
  }),
}
