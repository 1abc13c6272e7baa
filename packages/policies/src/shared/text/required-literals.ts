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

/** Escapes that JavaScript has not or reads in another way than RE2, and named classes. */
const OTHERWISE = /\\(?![bBdDfnrsStvwW])[\dA-Za-z]|\[:\^?[a-z]+:\]/
const FLAGS = /^\(\?[ims]+\)/
const DIGITS = [...'0123456789']

const load = createRequire(import.meta.url)

/**
 * The requirement of a pattern of RE2; what is not understood of it demands nothing. It is read as one of JavaScript,
 * which it is but for what is given up at once. Case does not matter here, so that flags do not either.
 */
export function requirementOf(pattern: string): Requirement {
  if (OTHERWISE.test(pattern)) return []
  const source = pattern.replace(FLAGS, '').replaceAll('(?P<', '(?<')
  const { RegExpParser } = load('@eslint-community/regexpp') as typeof import('@eslint-community/regexpp')
  try {
    return selected(needsOf(choiceOf(new RegExpParser({ ecmaVersion: 2025 }).parsePattern(source))))
  } catch {
    // No pattern of JavaScript, one that it reads in another way, or one that nests deeper than the stack.
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

/** Only lists of single characters are of use. */
function classOf({ negate, elements }: AST.CharacterClass): Part {
  // To RE2 a bracket that follows is the first of the list.
  if (elements.length === 0) throw new RangeError('a class without characters')
  const characters: string[] = []
  for (const element of elements) {
    if (element.type !== 'Character') return ANYTHING
    characters.push(String.fromCodePoint(element.value))
  }
  return negate ? ANYTHING : oneOf(characters)
}
