import { createRequire } from 'node:module'
import type { AST } from '@eslint-community/regexpp'
import {
  ANYTHING,
  alternatives,
  EMPTY,
  needsOf,
  oneOf,
  type Part,
  type Requirement,
  repeated,
  selected,
  sequence,
} from './part.js'

/** Named classes, and escapes that JavaScript lacks or interprets differently from RE2. */
const DIFFERS_FROM_JS = /\\(?![bBdDfnrsStvwW])[\dA-Za-z]|\[:\^?[a-z]+:\]/
const FLAGS = /^\(\?[ims]+\)/
const DIGITS = [...'0123456789']

const load = createRequire(import.meta.url)

/**
 * Returns the literals that an RE2 pattern requires, or none if it cannot be analyzed. It is parsed as a JavaScript
 * pattern; patterns with known differences are skipped. Case and therefore flags are ignored.
 */
export function requirementOf(pattern: string): Requirement {
  if (DIFFERS_FROM_JS.test(pattern)) return []
  const source = pattern.replace(FLAGS, '').replaceAll('(?P<', '(?<')
  const { RegExpParser } = load('@eslint-community/regexpp') as typeof import('@eslint-community/regexpp')
  try {
    return selected(needsOf(choiceOf(new RegExpParser({ ecmaVersion: 2025 }).parsePattern(source))))
  } catch {
    // Not a JavaScript pattern, one with another meaning in JavaScript, or nested too deeply for the stack.
    return []
  }
}

function choiceOf({ alternatives: branches }: { readonly alternatives: readonly AST.Alternative[] }): Part {
  return alternatives(branches.map(({ elements }) => sequence(elements.map(partOf))))
}

function partOf(element: AST.Element): Part {
  switch (element.type) {
    case 'Character':
      return oneOf([String.fromCodePoint(element.value)])
    case 'CharacterSet':
      return element.kind === 'digit' && !element.negate ? oneOf(DIGITS) : ANYTHING
    case 'CharacterClass':
      return classOf(element)
    case 'Group':
    case 'CapturingGroup':
      return choiceOf(element)
    case 'Quantifier':
      return repeated(partOf(element.element), element.min, element.max)
    case 'Assertion':
      return EMPTY
    default:
      return ANYTHING
  }
}

/** Analyzes a character class. Only lists of single characters are useful. */
function classOf({ negate, elements }: AST.CharacterClass): Part {
  // In RE2 a bracket that follows is the first character of the class.
  if (elements.length === 0) throw new RangeError('a class without characters')
  const characters: string[] = []
  for (const element of elements) {
    if (element.type !== 'Character') return ANYTHING
    characters.push(String.fromCodePoint(element.value))
  }
  return negate ? ANYTHING : oneOf(characters)
}
