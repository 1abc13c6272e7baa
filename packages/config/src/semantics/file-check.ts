import { isAbsolute } from 'node:path'
import type { DocumentPath } from '../document-path.js'
import type { Inspection } from './inspection.js'

/** A certificate or key must be there, and be PEM, before anything is built on it. */
export function checkPemFile({ readFile, report }: Inspection, file: string, path: DocumentPath): void {
  if (!report.isSound(path)) return
  const flaw = pemFlaw(readFile, file)
  if (flaw === null) return
  const message = `${String(path.at(-1))} ${report.quote(file, path)} ${flaw}`
  report.add({ path, message, remedy: remedyFor(file), ofMachine: true })
}

/** Where a relative path leads depends on who starts the gateway, and from where. */
function remedyFor(file: string): string {
  if (isAbsolute(file)) return 'correct the path or the file'
  return 'correct the path, which is relative to the working directory, or the file'
}

function pemFlaw(readFile: Inspection['readFile'], file: string): string | null {
  try {
    return readFile(file).includes('-----BEGIN ') ? null : 'is not PEM text'
  } catch (cause) {
    return `cannot be read: ${reasonOf(cause)}`
  }
}

/** A reason in our own words only: that of the system names the path, which may come from a reference. */
function reasonOf(cause: unknown): string {
  return cause instanceof Error && !('code' in cause) ? cause.message : 'the file system refuses it'
}
