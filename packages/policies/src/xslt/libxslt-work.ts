import type { OffloadedWork } from '@sluice/core'
import type { Transformed } from '../transformed.js'
import { type LibxsltConfig, type LibxsltInput, LibxsltRunner } from './libxslt/runner.js'
import { renamerOf } from './rename/renamer-of.js'

/** Transforms on a thread, with libxslt unless renaming is all there is to do. */
export const work: OffloadedWork<LibxsltConfig, LibxsltInput, Transformed> = async (config) => {
  const runner = await LibxsltRunner.create(config)
  const rename = renamerOf(config)
  return (input) => rename(input.body) ?? runner.run(input)
}
