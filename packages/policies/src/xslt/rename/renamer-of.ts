import { failed, type Transformed } from '../../transformed.js'
import type { LibxsltConfig } from '../libxslt/runner.js'
import { Renamer } from './renamer.js'

/** Null: the stylesheet does more than rename elements, or the body is nothing that the byte pass takes. */
export type Rename = (body: Uint8Array) => Transformed | null

/** What a stylesheet that only renames does without libxslt. */
export function renamerOf({ source, limits }: LibxsltConfig): Rename {
  if (source.renaming === null) return () => null
  const renamer = new Renamer(source.renaming)
  return (body) => {
    const renamed = renamer.rename(body)
    return renamed !== null && renamed.length > limits.maxOutputBytes ? failed(TOO_LARGE) : renamed
  }
}

const TOO_LARGE = 'the result is larger than it may be'
