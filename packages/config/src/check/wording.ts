import type { TSchema } from '@sinclair/typebox'
import { type DocumentPath, formatPath, isMapping } from '../document-path.js'
import { type Flaw, isFlaw } from '../flaw.js'
import { parseAddress } from '../grammar/address.js'
import { suggestion } from '../spelling.js'
import { exampleOf, expectationOf, wordsOf } from './expectation.js'
import { schemaErrors } from './validator.js'
import type { Violation } from './violation.js'

function hasBlanks(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== value
}

/**
 * The sentence for a violation.
 * @param references those in the text, as written, or null; their values are never shown.
 */
export function wordingOf(violation: Violation, references: string | null): Flaw {
  if (violation.key === null && references !== null) {
    return {
      message: `the value of ${references} is not ${expectationOf(violation.schema)}`,
      remedy: hasBlanks(violation.value) ? 'remove the blanks around the value' : 'correct the value',
    }
  }
  const speak = SENTENCES[violation.keyword] ?? unexpected
  return speak(violation, subjectOf(violation))
}

type Sentence = (violation: Violation, subject: string) => Flaw

const SENTENCES: Readonly<Record<string, Sentence>> = {
  additionalProperties: unknownKey,
  required: missingKey,
  choice: wrongChoice,
  grammar: ({ params }) => params['flaw'] as Flaw,
  minLength: wrongCount('minLength', 'maxLength', 'characters'),
  maxLength: wrongCount('minLength', 'maxLength', 'characters'),
  minItems: wrongCount('minItems', 'maxItems', 'items'),
  maxItems: wrongCount('minItems', 'maxItems', 'items'),
  minProperties: wrongCount('minProperties', 'maxProperties', 'keys'),
  maxProperties: wrongCount('minProperties', 'maxProperties', 'keys'),
  uniqueItems: (_, subject) => ({
    message: `${subject} holds the same item twice`,
    remedy: 'remove one of them',
  }),
}

function unknownKey({ key, schema }: Violation): Flaw {
  const known = Object.keys(schema['properties'] ?? {})
  const around = known.filter((name) => Object.hasOwn(schema['properties'][name].properties ?? {}, key ?? ''))
  const nested = around.length === 0 ? null : `write it under ${listed(around)}`
  const fallback = nested ?? (known.length === 0 ? 'remove it' : `the keys here are ${known.join(', ')}`)
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

/** Too few or too many of what `unit` names. */
function wrongCount(least: string, most: string, unit: string): Sentence {
  return ({ schema, value }, subject) => {
    const bounds = [
      ...(schema[least] === undefined ? [] : [`at least ${schema[least]}`]),
      ...(schema[most] === undefined ? [] : [`at most ${schema[most]}`]),
    ]
    const isEmpty = value === '' || (Array.isArray(value) && value.length === 0)
    const message = `${subject} must have ${bounds.join(' and ')} ${unit}`
    return { message, remedy: isEmpty ? 'do not leave it empty' : 'write more or fewer' }
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

function remedyFor(violation: Violation): string {
  const { keyword, value, schema } = violation
  const isOtherKind = keyword === 'type' || (keyword === 'enum' && typeof value !== 'string')
  if (isOtherKind && typeof schema['remedy'] === 'string') return schema['remedy']
  const words = wordsOf(schema)
  if (words?.length === 1) return `write ${words[0]}`
  const port = portRemedy(violation)
  if (port !== null) return port
  const quotes = quotesRemedy(violation)
  if (quotes !== null) return quotes
  if (words !== null) {
    const list = `write ${listed(words)}`
    return typeof value === 'string' ? suggestion(value, words, list) : list
  }
  if (schema['type'] === 'array') return listRemedy(violation)
  if (schema['type'] === 'object') return 'write a mapping, for example { key: value }'
  if (RANGES.has(keyword)) return 'choose one in this range'
  const example = exampleOf(schema)
  return example === null ? 'correct the value' : `write for example ${example}`
}

/** Often a list of one is meant; the value itself may be a misplaced secret, and is not shown. */
function listRemedy({ value, schema, isSecret }: Violation): string {
  const isScalar = ['string', 'number'].includes(typeof value)
  if (!isScalar || isSecret || !satisfies(schema, [value])) return 'write a list, for example [a, b]'
  return 'put it within [ ]'
}

const RANGES: ReadonlySet<string> = new Set(['minimum', 'maximum', 'bounds'])

/** Says so where all that is wrong is the quotes, by which YAML distinguishes texts from numbers, or a missing `%`. */
function quotesRemedy({ value, schema, isSecret }: Violation): string | null {
  if (typeof value === 'string') {
    const isOther = [Number(value), value === 'true'].some(
      (other) => String(other) === value && satisfies(schema, other),
    )
    return isOther ? 'remove the quotes' : null
  }
  const isScalar = typeof value === 'number' || typeof value === 'boolean'
  if (!isScalar || isSecret) return null
  if (satisfies(schema, String(value))) return `write "${value}" with quotes`
  // Up to 1 it may be a fraction.
  return typeof value === 'number' && value > 1 && satisfies(schema, `${value}%`) ? `write ${value}%` : null
}

/** A port alone is a number to YAML: what is missing is the host. */
function portRemedy({ value, schema }: Violation): string | null {
  if (schema['grammar'] !== 'address' || typeof value !== 'number' || !Number.isInteger(value)) return null
  const address = parseAddress(String(value))
  return isFlaw(address) ? address.remedy : null
}

function satisfies(schema: TSchema, value: unknown): boolean {
  return schemaErrors(schema, value).length === 0
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

function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}

function quoted(words: readonly string[]): string {
  const all = words.map((word) => `'${word}'`)
  return all.length < 2 ? all.join('') : `${all.slice(0, -1).join(', ')} and ${all.at(-1)}`
}
