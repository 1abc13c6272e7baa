import { type BodyAnswer, type BodyInput, type BodyQuery, Exchange, UnreadableBody } from '@sluice/core'
import { jsonLanguage } from './engines/json/language.js'
import { xmlLanguage } from './xml-package.js'

const LANGUAGES = { json: jsonLanguage, xml: xmlLanguage }

/** Evaluates the body queries of conditions on a worker thread. An `OffloadedWork`. */
export async function work(queries: readonly BodyQuery[]): Promise<(input: BodyInput) => BodyAnswer[]> {
  for (const kind of new Set(queries.map((query) => query.kind))) await LANGUAGES[kind].load()
  const readers = queries.map(({ kind, path, names }) => LANGUAGES[kind].compile(path, names))
  return ({ body, headers }) => {
    const x = Object.assign(new Exchange(), { body, headers })
    try {
      return readers.map((read) => answerOf(() => ({ value: read(x) })))
    } finally {
      x.views?.close()
    }
  }
}

function answerOf(ask: () => BodyAnswer): BodyAnswer {
  try {
    return ask()
  } catch (error) {
    if (!(error instanceof UnreadableBody)) throw error
    const { code, message, isAmbiguous } = error
    return { code, message, isAmbiguous }
  }
}
