import { type BodyValue, type BodyView, OFFLOAD_BYTES, type StreamingReader } from '@sluice/core'
import { xmlCodingFlaw } from '../media-type.js'
import { KNOWN_PREFIXES } from '../namespaces.js'
import { plainPath } from './plain-path.js'
import { PlainReader } from './plain-reader.js'

/** So much of a body is read for all that is asked of it, and then to the end of one answer: a tree costs less. */
const MAX_BYTES = 2 * OFFLOAD_BYTES

/**
 * Reads what a path finds first without a parser, from no more of the document than that takes; null for paths that
 * need the document as a tree.
 *
 * @param path that has been compiled: its syntax is right.
 * @param names what prefixes stand for, beside the known ones.
 */
export function compileStreamingXPath(
  path: string,
  names: Readonly<Record<string, string>>,
): StreamingReader | null {
  const plain = plainPath(path, { ...KNOWN_PREFIXES, ...names })
  if (plain === null) return null
  const reader = new PlainReader(plain)
  const question = JSON.stringify([path, names])
  return (x) => {
    const { body } = x
    if (body === null) return undefined
    const { answers, budget } = x.viewOf(newStreamedAnswers, body)
    if (!answers.has(question)) {
      const mayRead = budget.bytes > 0 && xmlCodingFlaw(x.headers) === null
      const answer = mayRead ? reader.first(body) : undefined
      answers.set(question, answer)
      // Where one path takes the parser, the tree is there for the others.
      budget.bytes = answer === undefined ? 0 : budget.bytes - reader.seen
    }
    return answers.get(question)
  }
}

/** What a body has answered: many routes may ask the same of it. */
interface StreamedAnswers extends BodyView {
  readonly answers: Map<string, BodyValue | undefined>
  /** What may still be read of it. */
  readonly budget: { bytes: number }
}

function newStreamedAnswers(): StreamedAnswers {
  return { answers: new Map(), budget: { bytes: MAX_BYTES }, close() {} }
}
