import { type Static, type TProperties, Type } from '@sinclair/typebox'
import { Ajv } from 'ajv'
import { ENGINES } from '../model/engine.js'
import { PEERS } from '../model/run.js'

/** Type of the lines in both directions. A web page cannot send it to another origin without permission. */
export const LINES_TYPE = 'application/x-ndjson'

const closed = <P extends TProperties>(properties: P) =>
  Type.Object(properties, { additionalProperties: false })
const oneOf = <const T extends string>(words: readonly T[]) =>
  Type.Union(words.map((word) => Type.Literal(word)))

const NAME = Type.String({ pattern: '^[a-z0-9-]{1,64}$' })
const ADDRESS = Type.String({ pattern: '^http://[A-Za-z0-9.-]{1,253}:[0-9]{1,5}$' })
/** An agent runs only scenarios that it knows. A request names one and cannot define one. */
const PLACE = { suite: NAME, scenario: NAME }
const MOST_SECONDS = 86_400

/** Inputs of the actions of an agent. */
const INPUTS = {
  facts: closed({ version: Type.String({ maxLength: 64 }) }),
  clock: closed({}),
  origin: closed(PLACE),
  systems: closed({
    ...PLACE,
    origin: ADDRESS,
    peers: Type.Array(oneOf(PEERS), { maxItems: PEERS.length, uniqueItems: true }),
    isPinned: Type.Boolean(),
    /** True if load generator or origin use the same cores. */
    isShared: Type.Boolean(),
  }),
  load: closed({
    ...PLACE,
    engine: oneOf(ENGINES),
    target: ADDRESS,
    connections: Type.Integer({ minimum: 1, maximum: 100_000 }),
    warmUpSeconds: Type.Number({ minimum: 0, maximum: MOST_SECONDS }),
    seconds: Type.Number({ exclusiveMinimum: 0, maximum: MOST_SECONDS }),
    perSecond: Type.Union([Type.Integer({ minimum: 1, maximum: 100_000_000 }), Type.Null()]),
    sampleCount: Type.Integer({ minimum: 0, maximum: 10_000 }),
  }),
  watch: closed({ system: Type.Union([NAME, Type.Null()]) }),
  watched: closed({ seconds: Type.Number({ minimum: 0, maximum: 2 * MOST_SECONDS }) }),
  stop: closed({}),
}
/** Name of an action. */
export type ActionName = keyof typeof INPUTS
/** Input of an action. */
export type ActionInput<A extends ActionName> = Static<(typeof INPUTS)[A]>

const ajv = new Ajv({ schemas: INPUTS })

/** Returns the problem of an action and its input, or null if they are valid. */
export function actionProblem(action: unknown, input: unknown): string | null {
  if (typeof action !== 'string' || !Object.hasOwn(INPUTS, action)) return 'there is no such action'
  return ajv.validate(action, input) ? null : ajv.errorsText(ajv.errors, { dataVar: 'input' })
}
