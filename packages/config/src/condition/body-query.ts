import type { BodyLanguage, BodyLanguages, BodyQuery, BodyReader, StreamingReader } from '@sluice/core'
import type { ConditionScope, Node } from './parser.js'
import { type Code, dynamic, fixed } from './value.js'

/** Context in which body queries are compiled. */
export interface QueryContext {
  readonly scope: ConditionScope
  /** Query languages. Null: paths are not checked. Undefined: bodies cannot be read here. */
  readonly bodies: BodyLanguages | null | undefined
  /** Receives the compiled queries. */
  readonly questions: BodyQuery[]
}

/**
 * Compiles `req.body.json(path)` and `req.body.xml(path, prefixes)`.
 * @throws RangeError for a path that is not constant or not valid
 */
export function compileBodyQuery(
  kind: string,
  [path, prefixes]: readonly Node[],
  { scope, bodies, questions }: QueryContext,
): Code {
  const text = constantText(path!, `the path of ${kind}()`)
  const names = prefixes === undefined ? {} : constantNames(prefixes)
  if (bodies === undefined) throw new RangeError('request bodies cannot be read here')
  if (bodies === null) return fixed(null)
  const language = bodies[kind as keyof BodyLanguages]
  if (!language.isLoaded) throw new RangeError(`the query language ${kind} is not loaded`)
  const query: BodyQuery = { kind: kind as keyof BodyLanguages, path: text, names }
  questions.push(query)
  const read = compiledPath(language, query)
  // Routing can stop reading a body early. Policies that decide about a body must see all of it.
  const streaming = scope === 'route' ? language.compileStreaming(text, names) : null
  return dynamic(readerOf(query, streaming === null ? read : streamingFirst(streaming, read)), {
    mayThrow: true,
  })
}

function streamingFirst(streaming: StreamingReader, read: BodyReader): BodyReader {
  return (x) => {
    const seen = streaming(x)
    return seen === undefined ? read(x) : seen
  }
}

/** Returns a reader that reuses the answer of a worker thread if there is one. */
function readerOf(query: BodyQuery, read: BodyReader): BodyReader {
  return (x) => {
    const answers = x.bodyAnswers
    const known = answers === null || answers.body !== x.body ? undefined : answers.to(query)
    return known === undefined ? read(x) : known
  }
}

function compiledPath(language: BodyLanguage, { kind, path, names }: BodyQuery): BodyReader {
  try {
    return language.compile(path, names)
  } catch (error) {
    throw new RangeError(`the path '${path}' of ${kind}(): ${(error as Error).message}`, { cause: error })
  }
}

function constantText(node: Node, what: string): string {
  if (node.op === 'value' && typeof node.args === 'string') return node.args
  throw new RangeError(`${what} must be a constant string`)
}

/** Reads the namespace prefixes, such as `{"m": "urn:orders"}`. */
function constantNames(node: Node): Readonly<Record<string, string>> {
  if (node.op !== 'map') throw new RangeError('the prefixes of xml() must be constants')
  const pairs = node.args as readonly (readonly [Node, Node])[]
  const entries = pairs.map(([name, value]) => [
    constantText(name, 'a prefix of xml()'),
    constantText(value, 'a namespace of xml()'),
  ])
  return Object.fromEntries(entries) as Readonly<Record<string, string>>
}
