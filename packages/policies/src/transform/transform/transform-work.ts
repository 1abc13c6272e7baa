import { type OffloadedWork, UnreadableBody } from '@sluice/core'
import { type JsonReading, jsonOfBytes } from '../../shared/json/view.js'
import { compileExpression, type ExpressionLimits, type Params, TransformError } from './expression.js'

/** An expression and its limits. Can be cloned for a thread. */
export interface ExpressionSettings {
  readonly source: string
  readonly limits: ExpressionLimits
  readonly reading: JsonReading
}

/** A large body and the values of the expression's variables. */
export interface TransformTask {
  readonly body: Uint8Array
  readonly params: Params
}

/** Result of a transformation. */
export type Transformed =
  | { readonly text: string }
  | { readonly unreadable: string }
  | { readonly failed: string; readonly isInput: boolean }

/** Transforms large bodies with an expression on a thread. */
export const work: OffloadedWork<ExpressionSettings, TransformTask, Transformed> = async ({
  source,
  limits,
  reading,
}) => {
  const evaluate = await compileExpression(source, limits)
  return ({ body, params }) => settled(async () => evaluate(jsonOfBytes(body, reading).value, params))
}

/** Runs a transformation and returns its result or failure. */
export async function settled(transform: () => Promise<string>): Promise<Transformed> {
  try {
    return { text: await transform() }
  } catch (error) {
    return failureOf(error)
  }
}

/** Converts an error to a failure. @throws the error itself if it is not from a transformation. */
export function failureOf(error: unknown): Transformed {
  if (error instanceof UnreadableBody) return { unreadable: error.message }
  if (error instanceof TransformError) return { failed: error.message, isInput: error.isInput }
  throw error
}
