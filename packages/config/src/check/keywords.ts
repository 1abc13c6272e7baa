import { parseDuration, parseSize } from '@sluice/core'
import { _, type Ajv } from 'ajv'
import type { Issue } from '../diagnostic/issue.js'
import { GRAMMARS, type GrammarName } from '../grammar/grammars.js'
import type { Bounds, Choice } from '../schema/build.js'

type Examine<T> = (value: T) => Record<string, unknown> | null

/** Registers the keywords of the document schema with Ajv. */
export function addKeywords(ajv: Ajv): void {
  addKeyword(ajv, 'grammar', 'string', grammarCheck)
  addKeyword(ajv, 'bounds', 'string', boundsCheck)
  addKeyword(ajv, 'choice', 'object', choiceCheck)
}

function grammarCheck(name: GrammarName): Examine<string> {
  return (text) => {
    const issue: Issue | null = GRAMMARS[name].examine(text)
    return issue === null ? null : { issue }
  }
}

const PARSERS = { duration: parseDuration, size: parseSize, ratio: percentOf } as const

/** Parses a percentage, which may exceed 100 %: `bounds` limits it. @throws RangeError for other text */
function percentOf(text: string): number {
  const match = /^(\d+(?:\.\d+)?)%$/.exec(text)
  if (match === null) throw new RangeError(`'${text}' is not a ratio`)
  return Number(match[1])
}

/** Checks the bounds of a quantity. Text that does not parse is reported by its pattern. */
function boundsCheck({ unit, min, max }: Bounds): Examine<string> {
  const parse = PARSERS[unit]
  const [least, most] = [parse(min), parse(max)]
  return (text) => {
    const amount = amountOf(text, parse)
    return amount === null || (amount >= least && amount <= most) ? null : { min, max }
  }
}

function amountOf(text: string, parse: (text: string) => number): number | null {
  try {
    return parse(text)
  } catch {
    return null
  }
}

function choiceCheck({ keys, min, max }: Choice): Examine<Record<string, unknown>> {
  return (mapping) => {
    const present = keys.filter((key) => Object.hasOwn(mapping, key))
    return present.length >= min && present.length <= max ? null : { keys, present, min }
  }
}

/**
 * Adds a keyword whose error parameters are the result of the check. It generates code because Ajv copies all
 * earlier errors for each error of a plain function: 8 s for 20,000 errors, measured.
 */
function addKeyword<K, T>(
  ajv: Ajv,
  keyword: string,
  type: 'string' | 'object',
  check: (value: K) => Examine<T>,
): void {
  ajv.addKeyword({
    keyword,
    type,
    error: { message: '', params: ({ params }) => _`${params['found']}` },
    code: (context) => {
      const examine = context.gen.scopeValue('func', { ref: check(context.schema) })
      const found = context.gen.const('found', _`${examine}(${context.data})`)
      context.setParams({ found })
      context.fail(_`${found} !== null`)
    },
  })
}
