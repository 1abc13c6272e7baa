import { type Manifest, manifestDigest, manifestProblem } from '@sluice/control-client'
import type { BundleFiles, Validation, ValidationRequest } from '../validation/validation.js'
import type { ApiBackend } from './api.js'
import { ControlProblem, chunksMissing } from './problem.js'

/** Options of a validation. */
interface ComparisonOptions {
  /** Digest of the bundle to compare with; null: none, absent: do not compare. */
  readonly before?: string | null
  /** Set if the bundle is the source of a document, which is composed first. */
  readonly compose?: NonNullable<ValidationRequest['compose']>
}

/**
 * Stores a manifest whose chunks were uploaded. Returns its digest.
 * @param required file that it must contain
 * @throws ControlProblem if it is invalid or chunks are missing
 */
export async function storeManifest(
  { store }: ApiBackend,
  manifest: Manifest,
  required?: string,
): Promise<string> {
  const problem = manifestProblem(manifest, required)
  if (problem !== null) throw new ControlProblem('GW_CONTROL_BAD_REQUEST', problem)
  const chunks = [...new Set(manifest.files.flatMap((file) => file.chunks))]
  const missing = await store.missingChunks(chunks)
  if (missing.length > 0) throw chunksMissing(missing)
  const digest = manifestDigest(manifest)
  await store.putManifest(digest, manifest)
  return digest
}

/** Checks the document of a stored bundle. @throws ControlProblem with all errors if it is invalid */
export async function validated(
  backend: ApiBackend,
  digest: string,
  { before, ...options }: ComparisonOptions = {},
): Promise<Extract<Validation, { readonly ok: true }>> {
  const validation = await backend.validator.validate(async () => {
    const files = await filesOf(backend, digest)
    const comparison =
      before === undefined ? {} : { before: before === null ? null : await filesOf(backend, before) }
    return { files, ...comparison, ...options }
  })
  if (validation === null)
    throw new ControlProblem('GW_CONTROL_BUSY', 'too many documents are being checked; try again', {
      headers: { 'retry-after': '5' },
    })
  if (validation.ok) return validation
  const { diagnostics } = validation
  const detail = `${diagnostics.length} ${diagnostics.length === 1 ? 'error' : 'errors'}; nothing was changed`
  throw new ControlProblem('GW_CONTROL_DOCUMENT_INVALID', detail, {
    members: { result: 'invalid', diagnostics },
  })
}

async function filesOf({ bundles }: ApiBackend, digest: string): Promise<BundleFiles> {
  const bundle = await bundles.load(digest)
  const files = new Map<string, Uint8Array>()
  for (const { path, size } of bundle?.manifest.files ?? []) {
    const content = await bundles.file(digest, path)
    if (content === null) break
    if (content.length !== size)
      throw new ControlProblem(
        'GW_CONTROL_BAD_REQUEST',
        `the size of the file '${path}' does not match its chunks`,
      )
    files.set(path, content)
  }
  if (bundle === null || files.size < bundle.manifest.files.length)
    throw new ControlProblem('GW_CONTROL_NOT_FOUND', `the bundle ${digest} is not stored any more`)
  return files
}
