import { realpathSync, statSync } from 'node:fs'
import { formatDocument } from '@sluice/config/authoring'
import { writePrivateFile } from '@sluice/core'
import { defaultDocument } from '../input/default-document.js'
import { readSource } from '../input/document.js'
import { EXIT, type ExitCode, unreadable } from '../output/failure.js'
import { complain, print, printText, say } from '../output/output.js'
import { countText } from '../output/text.js'
import { unifiedDiff } from '../output/text-diff.js'

interface FormatOptions {
  readonly check?: boolean
  readonly diff?: boolean
}

/** Formats files in place, or only shows which files and lines would change. `-` formats stdin to stdout. */
export async function fmt({ check, diff }: FormatOptions, ...files: readonly string[]): Promise<ExitCode> {
  const isDry = check === true || diff === true
  let [changed, failed] = [0, 0]
  for (const file of files.length > 0 ? new Set(files) : [defaultDocument('gw fmt')]) {
    const { name, text } = await readSource(file)
    const result = formatDocument(text)
    if (!result.ok) {
      complain(`${name}:${result.line}:${result.column}: ${result.message}`)
      failed++
      continue
    }
    const isChanged = result.text !== text
    if (isChanged) changed++
    if (file === '-' && !isDry) printText(result.text)
    else if (isChanged && diff === true) print(...unifiedDiff(text, result.text, name))
    else if (isChanged && check === true) print(name)
    else if (isChanged) write(file, result.text)
  }
  if (failed > 0) return EXIT.invalid
  if (!isDry && changed > 0 && !files.includes('-')) say(`${countText(changed, 'file')} formatted`)
  return isDry && changed > 0 ? EXIT.differences : EXIT.ok
}

/** Replaces the content of a file. A link stays, and the file keeps its owner and permissions. */
function write(file: string, text: string): void {
  try {
    const path = realpathSync(file)
    const { uid, gid, mode } = statSync(path)
    writePrivateFile(path, text, { uid, gid, mode: mode & 0o7777 })
  } catch (error) {
    throw unreadable('or replace', file, error)
  }
}
