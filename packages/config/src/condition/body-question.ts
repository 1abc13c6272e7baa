import type { BodyLanguage, BodyLanguages, BodyQuery, BodyReader, StreamingReader } from '@sluice/core'
import type { ConditionScope, Node } from './parser.js'
import { type Code, dynamic, fixed } from './value.js'

/** What questions are compiled with. */
export interface QuestionContext {
  readonly scope: ConditionScope
  /** Null: the paths are not looked at; undefined: nothing can read bodies here. */
  readonly bodies: BodyLanguages | null | undefined
  /** Receives what is asked. */
  readonly questions: BodyQuery[]
}

/**
 * `req.body.json(path)` and `req.body.xml(path, prefixes)`.
 * @throws RangeError for a path that is not a constant or not valid.
 */
export function compileBodyQuestion(
  kind: string,
  [path, prefixes]: readonly Node[],
  { scope, bodies, questions }: QuestionContext,
): Code {
  const text = constantText(path!, `the path of ${kind}()`)
  const names = prefixes === undefined ? {} : constantNames(prefixes)
  if (bodies === undefined) throw new RangeError('there is nothing here that can read bodies')
  if (bodies === null) return fixed(null)
  const language = bodies[kind as keyof BodyLanguages]
  if (!language.isLoaded) throw new RangeError(`what reads ${kind} is not loaded`)
  const question: BodyQuery = { kind: kind as keyof BodyLanguages, path: text, names }
  questions.push(question)
  const read = compiledPath(language, question)
  // What only chooses a route need not see what comes after it; policies that decide on a body see all of it.
  const streaming = scope === 'route' ? language.compileStreaming(text, names) : null
  return dynamic(readerOf(question, streaming === null ? read : streamingFirst(streaming, read)), {
    mayThrow: true,
  })
}

function streamingFirst(streaming: StreamingReader, read: BodyReader): BodyReader {
  return (x) => {
    const seen = streaming(x)
    return seen === undefined ? read(x) : seen
  }
}

/** What a thread has found out already is not read again. */
function readerOf(question: BodyQuery, read: BodyReader): BodyReader {
  return (x) => {
    const answers = x.bodyAnswers
    const known = answers === null || answers.body !== x.body ? undefined : answers.to(question)
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
