import { type Static, type TSchema, Type } from '@sluice/core'

const object = <T extends Record<string, TSchema>>(fields: T) =>
  Type.Object(fields, { additionalProperties: false })
const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/** Settings of a canary deploy. */
export const CanarySettings = object({
  size: Type.String({
    pattern: '^([1-9][0-9]{0,3}|[1-9][0-9]?%)$',
    description: 'Number of canaries, or their share of the connected members, such as 1 or 10%.',
  }),
  forMs: Type.Integer({
    minimum: 10_000,
    maximum: 86_400_000,
    default: 300_000,
    description: 'Duration of the comparison in milliseconds.',
  }),
  abortOn: Type.String({
    maxLength: 200,
    default: 'errors > 1% || p99 > 2x',
    description:
      'Condition that aborts the deploy: terms such as `errors > 1%` (share of 5xx), `p50 >= 80ms` or `p99 > 2x` (relative to the other members), separated by `||`.',
  }),
})

/** A gateway that takes a deploy before the others. */
export const CanaryMember = object({ member: Type.String(), name: Type.String() })

/** Traffic of some gateways in the same time. */
export const CanaryFigures = object({
  gateways: Type.Integer(),
  responses: Type.Integer(),
  errors: nullable(Type.Number({ description: 'Share of responses with status 5xx, 0 to 1.' })),
  p50Ms: nullable(Type.Number()),
  p99Ms: nullable(Type.Number()),
})

/** Traffic of the canaries and of the other gateways since all canaries are active. */
export const Comparison = object({
  canary: CanaryFigures,
  others: CanaryFigures,
  notChecked: Type.Array(Type.String(), {
    description: 'Terms of the condition that cannot be checked, with the reason.',
  }),
})

const phase = Type.Union([Type.Literal('activating'), Type.Literal('observing'), Type.Literal('passed')], {
  description: '`passed`: the other members prepare the bundle, too.',
})

/** Canary of a deploy. */
export const Canary = object({
  ...CanarySettings.properties,
  members: Type.Array(CanaryMember),
  phase,
  observedFrom: nullable(Type.String({ description: 'Time when the comparison began, ISO 8601.' })),
  comparison: nullable(Comparison),
})

/** Progress of a canary deploy. */
export const CanaryProgress = object({
  deploy: Type.Integer(),
  phase,
  members: Type.Array(Type.String(), { description: 'Names of the canaries.' }),
  connected: Type.Integer({ description: 'Number of connected members of the group.' }),
  abortOn: Type.String(),
  leftMs: nullable(Type.Integer({ description: 'Time until the comparison ends, in milliseconds.' })),
  ...Comparison.properties,
})

export type CanarySettings = Static<typeof CanarySettings>
export type CanaryMember = Static<typeof CanaryMember>
export type CanaryFigures = Static<typeof CanaryFigures>
export type Comparison = Static<typeof Comparison>
export type Canary = Static<typeof Canary>
export type CanaryProgress = Static<typeof CanaryProgress>
