import { type BodyValue, type BodyView, OFFLOAD_BYTES, type StreamingReader } from '@sluice/core'
import { xmlCodingIssue } from '../media-type.js'
import { KNOWN_PREFIXES } from '../namespaces.js'
import { plainPath } from './plain-path.js'
import { PlainReader } from './plain-reader.js'

/**
 * Maximum number of bytes read from a body by all streaming paths together. Beyond it, parsing a tree costs less. The
 * last path may exceed it.
 */
const MAX_BYTES = 2 * OFFLOAD_BYTES

/**
 * Compiles a path that is evaluated without a parser and reads the document only up to its first match. Returns null
 * for paths that need the document as a tree.
 *
 * @param path expression that has been compiled, so its syntax is valid.
 * @param names namespaces of prefixes, in addition to the predefined ones.
 */
export function compileStreamingXPath(
  path: string,
  names: Readonly<Record<string, string>>,
): StreamingReader | null {
  const plain = plainPath(path, { ...KNOWN_PREFIXES, ...names })
  if (plain === null) return null
  const reader = new PlainReader(plain)
  const key = JSON.stringify([path, names])
  return (x) => {
    const { body } = x
    if (body === null) return undefined
    const { answers, budget } = x.viewOf(newStreamedAnswers, body)
    if (!answers.has(key)) {
      const mayRead = budget.bytes > 0 && xmlCodingIssue(x.headers) === null
      const answer = mayRead ? reader.first(body) : undefined
      answers.set(key, answer)
      // If one path needs the parser, the tree serves the other paths as well.
      budget.bytes = answer === undefined ? 0 : budget.bytes - reader.seen
    }
    return answers.get(key)
  }
}

/** Results of streaming paths on one body, shared by routes with the same path. */
interface StreamedAnswers extends BodyView {
  readonly answers: Map<string, BodyValue | undefined>
  /** Number of bytes that may still be read. */
  readonly budget: { bytes: number }
}

function newStreamedAnswers(): StreamedAnswers {
  return { answers: new Map(), budget: { bytes: MAX_BYTES }, close() {} }
}
