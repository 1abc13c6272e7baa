import type { TSchema } from '@sinclair/typebox'
import { type DocumentPath, formatPath, isMapping } from '../document-path.js'
import type { Flaw } from '../flaw.js'
import { suggestion } from '../spelling.js'
import { exampleOf, expectationOf, wordsOf } from './expectation.js'
import type { Violation } from './violation.js'

/** What must not, or cannot, be said as the document writes it. */
export interface Circumstances {
  /** The references in the text, as written; null when there are none. Their values are never shown. */
  readonly references: string | null
  /** The flag of the command line that gave the value, or null. */
  readonly flag: string | null
}

/** The sentence for a violation. */
export function wordingOf(violation: Violation, circumstances: Circumstances): Flaw {
  const { references } = circumstances
  if (violation.key === null && references !== null) {
    return {
      message: `the value of ${references} is not ${expectationOf(violation.schema)}`,
      remedy: 'correct the value',
    }
  }
  const speak = SENTENCES[violation.keyword] ?? unexpected
  return speak(violation, circumstances.flag ?? subjectOf(violation))
}

type Sentence = (violation: Violation, subject: string) => Flaw

const SENTENCES: Readonly<Record<string, Sentence>> = {
  additionalProperties: unknownKey,
  required: missingKey,
  choice: wrongChoice,
  grammar: ({ params }) => params['flaw'] as Flaw,
  minLength: wrongLength,
  maxLength: wrongLength,
  uniqueItems: (_, subject) => ({
    message: `${subject} holds the same item twice`,
    remedy: 'remove one of them',
  }),
}

function unknownKey({ key, schema }: Violation): Flaw {
  const known = Object.keys(schema['properties'] ?? {})
  const fallback = known.length === 0 ? 'remove it' : `the keys here are ${known.join(', ')}`
  return { message: `unknown key '${key}'`, remedy: suggestion(key ?? '', known, fallback) }
}

function missingKey({ path, params, schema }: Violation): Flaw {
  const key = String(params['missingProperty'])
  const property = schema['properties']?.[key] ?? {}
  const words = wordsOf(property)
  return {
    message: `${path.length === 0 ? 'the document' : formatPath(path)} has no '${key}'`,
    remedy: words?.length === 1 ? `add ${key}: ${words[0]}` : `add ${key}: ${expectationOf(property)}`,
  }
}

function wrongChoice({ path, params }: Violation): Flaw {
  const keys = params['keys'] as readonly string[]
  const present = params['present'] as readonly string[]
  const where = formatPath(path)
  if (present.length > 0)
    return { message: `${where} has ${quoted(present)} together`, remedy: 'keep one of them' }
  return { message: `${where} has none of ${quoted(keys)}`, remedy: 'add one of them' }
}

function wrongLength({ schema }: Violation, subject: string): Flaw {
  const { minLength, maxLength } = schema as { minLength?: number; maxLength?: number }
  const least = minLength === undefined ? '' : ` at least ${minLength}`
  const most = maxLength === undefined ? '' : ` at most ${maxLength}`
  const both = least !== '' && most !== '' ? `${least} and${most}` : `${least}${most}`
  return {
    message: `${subject} must have${both} characters`,
    remedy: minLength === undefined ? 'shorten it' : 'write more or less',
  }
}

function unexpected(violation: Violation, subject: string): Flaw {
  const { value, schema, key } = violation
  if (value === null && key === null) {
    return { message: `${subject} has no value`, remedy: `write ${expectationOf(schema)}, or remove the key` }
  }
  const shown = shownValue(violation)
  return {
    message: `${subject} must be ${expectationOf(schema)}${shown === null ? '' : `, not ${shown}`}`,
    remedy: key === null ? remedyFor(violation) : 'choose another name',
  }
}

/** The value as far as it may be shown: a scalar stands where a scalar is expected, or it may be a misplaced secret. */
function shownValue({ value, schema, isSecret }: Violation): string | null {
  if (Array.isArray(value)) return `a list of ${value.length}`
  if (isMapping(value)) return 'a mapping'
  if (isSecret || schema['type'] === 'array' || schema['type'] === 'object') return null
  if (typeof value !== 'string') return String(value)
  return value.length > 60 ? `a text of ${value.length} characters` : `'${value}'`
}

function remedyFor({ keyword, value, schema, isSecret }: Violation): string {
  const words = wordsOf(schema)
  if (words?.length === 1) return `write ${words[0]}`
  if (words !== null) return suggestion(String(value), words, `write ${words.join(' or ')}`)
  const isScalar = typeof value === 'number' || typeof value === 'boolean'
  if (keyword === 'type' && isFreeText(schema) && isScalar && !isSecret) {
    return `write "${value}" with quotes`
  }
  if (keyword === 'minimum' || keyword === 'maximum' || keyword === 'bounds')
    return 'choose one in this range'
  const example = exampleOf(schema)
  return example === null ? 'correct the value' : `write for example ${example}`
}

function isFreeText(schema: TSchema): boolean {
  return schema['type'] === 'string' && schema['pattern'] === undefined && schema['grammar'] === undefined
}

/** The key in quotes; for an item of a list, the key of the list and the position. */
function subjectOf({ path, key }: Violation): string {
  if (key !== null) return `the key '${key}'`
  if (path.length === 0) return 'the document'
  const [name, ...positions] = path.slice(lastKey(path))
  return `'${name}${formatPath(positions)}'`
}

function lastKey(path: DocumentPath): number {
  const index = path.findLastIndex((part) => typeof part === 'string')
  return index === -1 ? 0 : index
}

function quoted(words: readonly string[]): string {
  const all = words.map((word) => `'${word}'`)
  return all.length < 2 ? all.join('') : `${all.slice(0, -1).join(', ')} and ${all.at(-1)}`
}
