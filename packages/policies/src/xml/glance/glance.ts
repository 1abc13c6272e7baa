import type { BodyGlance, BodyValue, BodyView } from '@sluice/core'
import { xmlCodingFlaw } from '../media-type.js'
import { KNOWN_PREFIXES } from '../namespaces.js'
import { plainPath } from './plain-path.js'
import { PlainReader } from './plain-reader.js'

/**
 * Reads what a path finds first without a parser, from no more of the document than that takes; null for paths that
 * need the document as a tree.
 *
 * @param path that has been compiled: its syntax is right.
 * @param names what prefixes stand for, beside the known ones.
 */
export function glanceAt(path: string, names: Readonly<Record<string, string>>): BodyGlance | null {
  const plain = plainPath(path, { ...KNOWN_PREFIXES, ...names })
  if (plain === null) return null
  const reader = new PlainReader(plain)
  const question = JSON.stringify([path, names])
  return (x) => {
    const { body } = x
    if (body === null) return undefined
    const { answers } = x.viewOf(newGlances, body)
    if (!answers.has(question)) {
      answers.set(question, xmlCodingFlaw(x.headers) === null ? reader.first(body) : undefined)
    }
    return answers.get(question)
  }
}

/** What a body has answered: many routes may ask the same of it. */
interface Glances extends BodyView {
  readonly answers: Map<string, BodyValue | undefined>
}

function newGlances(): Glances {
  return { answers: new Map(), close() {} }
}
