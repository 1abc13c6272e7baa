import { createHash } from 'node:crypto'
import { type Static, Type } from '@sluice/core'
import { type Chunk, chunksOf, MAX_CHUNK_BYTES } from './chunks.js'

const MAX_FILES = 1000
/** Maximum size of all files of a bundle together, in bytes. */
export const MAX_BUNDLE_BYTES = 64 * 1024 * 1024
/** Path of the document in every bundle. */
export const DOCUMENT_PATH = 'gateway.yaml'

/** Relative path below the bundle's folder, such as `schemas/order.json`. No segment starts with a dot. */
const PATH = '^(?!.*/[.])[A-Za-z0-9_@+=,~-][A-Za-z0-9_.@+=,~ -]*(/[A-Za-z0-9_@+=,~-][A-Za-z0-9_.@+=,~ -]*)*$'

const file = Type.Object(
  {
    path: Type.String({ pattern: PATH, maxLength: 255 }),
    /** Size in bytes. */
    size: Type.Integer({ minimum: 0, maximum: MAX_BUNDLE_BYTES }),
    /** SHA-256 digests of the file's chunks in order, hexadecimal. */
    chunks: Type.Array(Type.String({ pattern: '^[0-9a-f]{64}$' }), { maxItems: 20_000 }),
  },
  { additionalProperties: false },
)

/** Schema of a manifest. */
export const ManifestSchema = Type.Object(
  { version: Type.Literal(1), files: Type.Array(file, { minItems: 1, maxItems: MAX_FILES }) },
  { additionalProperties: false },
)

/**
 * The files of a bundle. Its digest identifies the bundle.
 * ```
 * digest ─► manifest ─► file ─► chunk, chunk, chunk
 *                    └► file ─► chunk
 * ```
 */
export type Manifest = Static<typeof ManifestSchema>
/** One file of a manifest. */
export type ManifestFile = Static<typeof file>

/** A manifest with the contents of its chunks. */
export interface Bundle {
  readonly digest: string
  readonly manifest: Manifest
  /** Chunks by digest. */
  readonly chunks: ReadonlyMap<string, Buffer>
}

/**
 * Creates the bundle of files.
 * @param required file that it must contain, or null
 * @throws Error if a path is invalid or the bundle is too large
 */
export function bundleOf(
  files: ReadonlyMap<string, Buffer>,
  required: string | null = DOCUMENT_PATH,
): Bundle {
  const chunks = new Map<string, Buffer>()
  const described = [...files].map(([path, content]): ManifestFile => {
    const ofFile: Chunk[] = chunksOf(content)
    for (const { digest, bytes } of ofFile) chunks.set(digest, bytes)
    return { path, size: content.length, chunks: ofFile.map(({ digest }) => digest) }
  })
  const manifest: Manifest = { version: 1, files: described.sort(byPath) }
  const problem = manifestProblem(manifest, required)
  if (problem !== null) throw new Error(problem)
  return { digest: manifestDigest(manifest), manifest, chunks }
}

/** Returns the manifest's digest: SHA-256 of its JSON text, hexadecimal. */
export function manifestDigest({ files }: Manifest): string {
  const canonical = files.map(({ path, size, chunks }) => [path, size, chunks])
  return createHash('sha256')
    .update(JSON.stringify([1, canonical]))
    .digest('hex')
}

/**
 * Checks what the schema cannot express. Returns the problem as a sentence, or null.
 * A file must not be the folder of another one, also on file systems that ignore case.
 */
export function manifestProblem({ files }: Manifest, required: string | null = DOCUMENT_PATH): string | null {
  if (files.length > MAX_FILES) return `a bundle may have at most ${MAX_FILES} files`
  const names = new Set<string>()
  const folders = new Set<string>()
  let bytes = 0
  for (const [i, { path, size, chunks }] of files.entries()) {
    if (path.length > 255 || !new RegExp(PATH).test(path))
      return `the path ${JSON.stringify(path)} is invalid`
    if (i > 0 && byPath(files[i - 1]!, files[i]!) >= 0) return 'the files are not sorted by path'
    if (size > chunks.length * MAX_CHUNK_BYTES) return `the file '${path}' has too few chunks`
    // No chunk is empty, except that of an empty file.
    if (chunks.length > Math.max(1, size)) return `the file '${path}' has too many chunks`
    const name = path.toLowerCase()
    if (names.has(name)) return `the file '${path}' occurs twice`
    names.add(name)
    for (let at = name.indexOf('/'); at !== -1; at = name.indexOf('/', at + 1)) folders.add(name.slice(0, at))
    bytes += size
  }
  const collision = [...names].find((name) => folders.has(name))
  if (collision !== undefined) return `'${collision}' is a file and a folder`
  if (bytes > MAX_BUNDLE_BYTES) return `the files have ${bytes} bytes; the maximum is ${MAX_BUNDLE_BYTES}`
  return required === null || names.has(required) ? null : `the bundle does not contain ${required}`
}

function byPath(a: ManifestFile, b: ManifestFile): number {
  return a.path < b.path ? -1 : a.path > b.path ? 1 : 0
}
