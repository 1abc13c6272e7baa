import { posix } from 'node:path'
import { relativePathsOf, writtenSecretsOf } from '@sluice/config'
import { catalog } from '@sluice/policies'
import type { DocumentFacts } from './document-facts.js'
import { ObjectsError, partAt, partsAt, type RawPart, textAt, textsIn } from './raw-document.js'
import type { ObjectSettings, Verbatim } from './settings.js'

/** Valid keys of a Secret. */
const KEY = /^[-._a-zA-Z0-9]{1,253}$/

/** A file of the document, and the Secret that contains it. */
interface SecretFile {
  readonly secret: string
  readonly key: string
  readonly path: string
}

/**
 * Returns the volume sources for the files that the document refers to by relative paths. They are mounted next to the
 * document. They are optional, so that a pod starts without them and the gateway reports the missing file.
 * @throws ObjectsError if no Secret is given for a file
 */
export function fileSources({ root }: DocumentFacts, settings: ObjectSettings): readonly Verbatim[] {
  const items = new Map<string, { key: string; path: string }[]>()
  for (const path of filesOf(root)) {
    const { secret, ...item } = secretFile(path, settings)
    items.set(secret, [...(items.get(secret) ?? []), item])
  }
  return [...items].map(([name, ofSecret]) => ({ secret: { name, items: ofSecret, optional: true } }))
}

function secretFile(path: string, { secret, fileSecrets = {} }: ObjectSettings): SecretFile {
  if (path.startsWith('../') || path === '..')
    throw new ObjectsError(`the document refers to '${path}' outside its folder; use an absolute path`)
  const [folder, name] = [posix.dirname(path), posix.basename(path)]
  const own = Object.hasOwn(fileSecrets, folder) ? fileSecrets[folder]! : null
  const key = own === null ? path.replaceAll('/', '.') : name
  const from = own ?? secret
  if (from === undefined)
    throw new ObjectsError(`the document refers to the file '${path}'; specify the Secret that contains it`)
  if (!KEY.test(key))
    throw new ObjectsError(`'${key}' is not a valid Secret key; rename the file '${path}' of the document`)
  return { secret: from, key, path }
}

/** Returns the relative paths of files that the document needs. Log folders and plugins are not included. */
function filesOf(root: RawPart): string[] {
  const written = writtenFolders(root).map(({ dir }) => posix.normalize(dir))
  const files = sortedPaths([...relativePathsOf(root, catalog), ...fileReferences(root)])
  return files.filter((path) => !written.includes(path))
}

/** Returns the relative paths of `${file:PATH}` references. */
export function referencedFiles({ root }: DocumentFacts): string[] {
  return sortedPaths(fileReferences(root))
}

function fileReferences(root: RawPart): string[] {
  return textsIn(root).flatMap((text) =>
    [...text.replaceAll('$${', '').matchAll(/\$\{file:([^}]+)\}/g)].map(([, path = '']) => path),
  )
}

/** Normalizes, deduplicates and sorts relative paths. Drops absolute paths. */
function sortedPaths(paths: readonly string[]): string[] {
  const relative = paths.filter((path) => !path.startsWith('/'))
  return [...new Set(relative.map((path) => posix.normalize(path)))].sort()
}

/** A folder of the traffic log in the document. */
interface WrittenFolder {
  readonly at: string
  readonly dir: string
}

/** Returns the folders that the document sets for the traffic log instead of the data directory. */
export function writtenFolders(root: RawPart): readonly WrittenFolder[] {
  const log = partAt(root, 'log')
  const outlets = [
    ['log', log] as const,
    ...partsAt(log, 'outputs').map((target, i) => [`log.outputs[${i}]`, target] as const),
  ]
  const spool = textAt(partAt(partAt(partAt(root, 'tracing'), 'exporter'), 'spool'), 'dir')
  const traces = spool === null ? [] : [{ at: 'tracing.exporter.spool.dir', dir: spool }]
  const ofLog = outlets.flatMap(([place, outlet]) => {
    const file = textAt(partAt(outlet, 'file'), 'dir')
    const spools = ['elasticsearch', 'stdout', 'syslog', 'webhook', 'loki', 'kafka', 'otlp', 'custom'].map(
      (kind) => ({
        at: `${place}.${kind}.spool.dir`,
        dir: textAt(partAt(partAt(outlet, kind), 'spool'), 'dir'),
      }),
    )
    return [{ at: `${place}.file.dir`, dir: file }, ...spools].flatMap(({ at, dir }) =>
      dir === null ? [] : [{ at, dir }],
    )
  })
  return [...ofLog, ...traces]
}

/**
 * Checks that the document contains no secrets, because a ConfigMap does not protect them. Digests of admin tokens and
 * API keys are allowed.
 * @throws ObjectsError with the path of the first secret
 */
export function refuseSecrets({ root }: DocumentFacts): void {
  const secret = writtenSecretsOf(root, catalog).find((place) => !place.endsWith('.sha256'))
  if (secret !== undefined)
    throw new ObjectsError(
      `${secret} is a secret, but ConfigMaps do not protect secrets; use \${env:NAME} and put the value into the Secret`,
    )
}
