import type { BodyLanguages } from '@sluice/core'
import type { Node } from './parser.js'
import { type Code, dynamic, fixed } from './value.js'

/**
 * `req.body.json(path)` and `req.body.xml(path, prefixes)`.
 * @param bodies null: the paths are not looked at; undefined: nothing can read bodies here.
 * @throws RangeError for a path that is not a constant or not valid.
 */
export function compileBodyQuestion(
  kind: string,
  [path, prefixes]: readonly Node[],
  bodies: BodyLanguages | null | undefined,
): Code {
  const text = constantText(path!, `the path of ${kind}()`)
  const names = prefixes === undefined ? {} : constantNames(prefixes)
  if (bodies === undefined) throw new RangeError('there is nothing here that can read bodies')
  if (bodies === null) return fixed(null)
  const language = bodies[kind as keyof BodyLanguages]
  if (!language.isLoaded) throw new RangeError(`what reads ${kind} is not loaded`)
  try {
    return dynamic(language.compile(text, names), { mayThrow: true })
  } catch (error) {
    throw new RangeError(`the path '${text}' of ${kind}(): ${(error as Error).message}`, { cause: error })
  }
}

function constantText(node: Node, what: string): string {
  if (node.op === 'value' && typeof node.args === 'string') return node.args
  throw new RangeError(`${what} must be a constant text`)
}

/** What prefixes stand for: `{"m": "urn:orders"}`. */
function constantNames(node: Node): Readonly<Record<string, string>> {
  if (node.op !== 'map') throw new RangeError('the prefixes of xml() must be constants')
  const pairs = node.args as readonly (readonly [Node, Node])[]
  const entries = pairs.map(([name, value]) => [
    constantText(name, 'a prefix of xml()'),
    constantText(value, 'a namespace of xml()'),
  ])
  return Object.fromEntries(entries) as Readonly<Record<string, string>>
}
