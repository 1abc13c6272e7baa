import { isAbsolute, relative, resolve } from 'node:path'
import type { DocumentPath } from '../document-path.js'
import type { Inspection } from './inspection.js'

/** What the metadata at the end of a database begins with (MaxMind DB file format 2.0, "Database Metadata"). */
const METADATA_MARKER = '\xab\xcd\xefMaxMind.com'

/** A certificate or key must be there, and be PEM, before anything is built on it. */
export function checkPemFile(inspection: Inspection, file: string, path: DocumentPath): void {
  const flawOf = () => (inspection.readFile(file).includes('-----BEGIN ') ? null : 'is not PEM text')
  checkFile(inspection, { file, path, flawOf })
}

/** A database of places must be there, and be one. */
export function checkPlacesFile(inspection: Inspection, file: string, path: DocumentPath): void {
  const flawOf = () =>
    inspection.readEnd(file).includes(METADATA_MARKER) ? null : 'is not a database in the MaxMind DB format'
  checkFile(inspection, { file, path, flawOf })
}

/** A kubeconfig must be there, and name a cluster; what else it has to say is found where it is used. */
export function checkKubeconfig(inspection: Inspection, file: string, path: DocumentPath): void {
  const flawOf = () => (inspection.readFile(file).includes('clusters') ? null : 'is not a kubeconfig')
  checkFile(inspection, { file, path, flawOf })
}

interface NamedFile {
  readonly file: string
  readonly path: DocumentPath
  /** What is wrong with its content, or null. @throws Error when it cannot be read. */
  flawOf(): string | null
}

function checkFile(inspection: Inspection, { file, path, flawOf }: NamedFile): void {
  const { report } = inspection
  if (!report.isSound(path)) return
  const flaw = flawIn(flawOf)
  if (flaw === null) return
  const message = `${String(path.at(-1))} ${report.quote(file, path)} ${flaw}`
  report.add({ path, message, remedy: remedyFor(inspection, file), ofMachine: true })
}

/** A path that was meant to begin in the working directory is reported as it must be written. */
function remedyFor({ folder, exists }: Inspection, file: string): string {
  if (isAbsolute(file)) return 'correct the path or the file'
  const isElsewhere = resolve(file) !== resolve(folder, file) && exists(resolve(file))
  if (isElsewhere)
    return `paths begin in the folder of the document: write ${relative(folder, resolve(file))}`
  return 'correct the path, which is relative to the folder of the document, or the file'
}

function flawIn(flawOf: NamedFile['flawOf']): string | null {
  try {
    return flawOf()
  } catch (cause) {
    return `cannot be read: ${reasonOf(cause)}`
  }
}

/** A reason in our own words only: that of the system names the path, which may come from a reference. */
function reasonOf(cause: unknown): string {
  return cause instanceof Error && !('code' in cause) ? cause.message : 'the file system refuses it'
}
