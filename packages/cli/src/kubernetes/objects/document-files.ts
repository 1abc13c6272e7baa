import { posix } from 'node:path'
import { relativePathsOf, writtenSecretsOf } from '@sluice/config'
import { catalog } from '@sluice/policies'
import type { DocumentFacts } from './document-facts.js'
import { ObjectsError, partAt, partsAt, type RawPart, textAt, textsIn } from './raw-document.js'
import type { ObjectSettings, Verbatim } from './settings.js'

/** What Kubernetes takes as a key of a Secret. */
const KEY = /^[-._a-zA-Z0-9]{1,253}$/

/** A file beside the document, and the Secret it comes from. */
interface SecretFile {
  readonly secret: string
  readonly key: string
  readonly path: string
}

/**
 * The sources of the volume in which the document lies: the files that it names by relative paths lie there too. Those
 * that a Secret does not have are left out, so that the gateway itself says which file is missing.
 * @throws ObjectsError when nobody said which Secret has them.
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
    throw new ObjectsError(
      `the document names '${path}', which is not below its folder; write an absolute path`,
    )
  const [folder, name] = [posix.dirname(path), posix.basename(path)]
  const own = Object.hasOwn(fileSecrets, folder) ? fileSecrets[folder]! : null
  const key = own === null ? path.replaceAll('/', '.') : name
  const from = own ?? secret
  if (from === undefined)
    throw new ObjectsError(`the document names the file '${path}'; name the Secret that holds it`)
  if (!KEY.test(key))
    throw new ObjectsError(`'${key}' is no key of a Secret; rename the file '${path}' of the document`)
  return { secret: from, key, path }
}

/** What the gateway writes is no file of the document, and plugins are a part of the image. */
function filesOf(root: RawPart): string[] {
  const written = writtenFolders(root).map(({ dir }) => posix.normalize(dir))
  const referenced = textsIn(root).flatMap((text) =>
    [...text.replaceAll('$${', '').matchAll(/\$\{file:([^}]+)\}/g)].map(([, path = '']) => path),
  )
  const named = [...relativePathsOf(root, catalog), ...referenced].filter((path) => !path.startsWith('/'))
  const files = [...new Set(named.map((path) => posix.normalize(path)))]
  return files.filter((path) => !written.includes(path)).sort()
}

/** A folder that the document gives to the traffic log. */
interface WrittenFolder {
  readonly at: string
  readonly dir: string
}

/** Where the document has records written, in place of the data directory. */
export function writtenFolders(root: RawPart): readonly WrittenFolder[] {
  const log = partAt(root, 'log')
  const outlets = [
    ['log', log] as const,
    ...partsAt(log, 'targets').map((target, i) => [`log.targets[${i}]`, target] as const),
  ]
  return outlets.flatMap(([place, outlet]) => {
    const file = textAt(partAt(outlet, 'file'), 'dir')
    const spools = ['elasticsearch', 'stdout', 'syslog', 'webhook', 'custom'].map((kind) => {
      return { at: `${place}.${kind}.spool.dir`, dir: textAt(partAt(partAt(outlet, kind), 'spool'), 'dir') }
    })
    return [{ at: `${place}.file.dir`, dir: file }, ...spools].flatMap(({ at, dir }) =>
      dir === null ? [] : [{ at, dir }],
    )
  })
}

/**
 * Refuses a document with secrets in it: whoever may read ConfigMaps could read them. The digest of an admin token or an
 * API key tells nothing of what it was made of.
 * @throws ObjectsError that says where the first one stands.
 */
export function refuseSecrets({ root }: DocumentFacts): void {
  const secret = writtenSecretsOf(root, catalog).find((place) => !place.endsWith('.sha256'))
  if (secret !== undefined)
    throw new ObjectsError(
      `${secret} is a secret that everybody who may read ConfigMaps could read; write \${env:NAME} there, and its value into the Secret`,
    )
}
