import type { ConditionScope } from '@sluice/config'
import {
  type BodyAnswer,
  BodyAnswers,
  type BodyInput,
  type BodyLanguages,
  type BodyQuery,
  type Catalog,
  type CompileEnv,
  type Eventual,
  type Exchange,
  OFFLOAD_BYTES,
  type Offload,
  Overload,
  refusal,
  type StreamingReader,
} from '@sluice/core'

const BUSY = refusal('GW_OVERLOADED', 'too many large bodies are being parsed; try again', [
  'retry-after',
  '1',
])

/** Evaluates queries on a request body. Returns a Reply if that is currently impossible. */
export type Examine = (x: Exchange) => Eventual

/**
 * Evaluates body queries of conditions on a thread if the body is large, so that parsing it does not block
 * other requests. Small bodies are parsed by the condition itself. Returns null without queries, or without
 * such a thread.
 */
export function bodyExaminer(
  questions: readonly BodyQuery[],
  { bodies, bodyWork }: Catalog,
  env: CompileEnv,
  scope: ConditionScope,
): Examine | null {
  if (questions.length === 0 || bodyWork === undefined) return null
  const offload = env.offload<BodyInput, BodyAnswer[]>(bodyWork, questions)
  const isSeen = scope === 'route' ? streamingReaderOf(questions, bodies) : null
  return (x) => {
    const { body } = x
    if (body === null || body.length < OFFLOAD_BYTES) return null
    if (x.bodyAnswers?.body === body && x.bodyAnswers.has(questions[0]!)) return null
    return isSeen?.(x) === true ? null : ask(x, body, { questions, offload })
  }
}

/**
 * Returns a function that is true if the start of the body answers all queries. Null if a query needs the
 * whole body.
 */
function streamingReaderOf(
  questions: readonly BodyQuery[],
  bodies: BodyLanguages | undefined,
): ((x: Exchange) => boolean) | null {
  const all: StreamingReader[] = []
  for (const { kind, path, names } of questions) {
    const streaming = bodies?.[kind].compileStreaming(path, names) ?? null
    if (streaming === null) return null
    all.push(streaming)
  }
  return (x) => all.every((streaming) => streaming(x) !== undefined)
}

async function ask(
  x: Exchange,
  body: Uint8Array,
  { questions, offload }: { questions: readonly BodyQuery[]; offload: Offload<BodyInput, BodyAnswer[]> },
): Promise<typeof BUSY | null> {
  try {
    const answers = await offload.run({ body, headers: x.headers }, x)
    if (x.bodyAnswers?.body !== body) x.bodyAnswers = new BodyAnswers(body)
    x.bodyAnswers.add(questions, answers)
    return null
  } catch (error) {
    if (error instanceof Overload) return BUSY
    throw error
  }
}
