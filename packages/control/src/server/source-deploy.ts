import { BASE_FILE, isSourceDocument, partOf, type TeamScope } from '@sluice/config'
import { bundleOf, DOCUMENT_PATH, type Manifest, type ManifestFile } from '@sluice/control-client'
import { type Deploy, groupOf } from '../state/control-state.js'
import type { Validation } from '../validation/validation.js'
import type { ApiBackend } from './api.js'
import { storeManifest, validated } from './deploy-preparation.js'
import { ControlProblem } from './problem.js'

/** A change of the source of a group's document. */
export interface SourceChange {
  readonly manifest: Manifest
  /** Part that the manifest replaces; null: all of them. */
  readonly part: string | null
  /** Limits of the caller; null: none. */
  readonly scope: TeamScope | null
  /** The committed deploy, whose other parts are kept. */
  readonly head: Deploy | null
}

/** A composed bundle. Both manifests are stored. */
export interface ComposedBundle
  extends Pick<Extract<Validation, { readonly ok: true }>, 'changes' | 'warnings'> {
  readonly digest: string
  /** Digest of the manifest of the source. */
  readonly source: string
}

/** Composes and checks the document of a changed source. @throws ControlProblem with all errors */
export async function composeBundle(backend: ApiBackend, change: SourceChange): Promise<ComposedBundle> {
  const { manifest, part, scope, head } = change
  const refused = manifest.files.find(
    ({ path }) => partOf(path) === null || partOf(path) !== (part ?? partOf(path)),
  )
  if (refused !== undefined) {
    const detail = `a source folder has base.yaml and fragments/TEAM/*.yaml; '${refused.path}' does not belong to ${part ?? 'it'}`
    throw new ControlProblem('GW_CONTROL_BAD_REQUEST', detail)
  }
  const kept =
    part === null ? [] : (await sourceFiles(backend, head)).filter(({ path }) => partOf(path) !== part)
  const files = sorted([...kept, ...manifest.files])
  if (!files.some(({ path }) => path === BASE_FILE))
    throw new ControlProblem(
      'GW_CONTROL_BAD_REQUEST',
      'the group has no base.yaml; deploy a folder with one first',
    )
  const source = await storeManifest(backend, { version: 1, files }, BASE_FILE)
  const options = { before: head?.digest ?? null, compose: { part, scope } }
  const { text = '', changes, warnings } = await validated(backend, source, options)
  const document = bundleOf(new Map([[DOCUMENT_PATH, Buffer.from(text)]]))
  await backend.store.putChunks(document.chunks)
  const others = files.filter(({ path }) => !isSourceDocument(path))
  const composed = sorted([...document.manifest.files, ...others])
  const digest = await storeManifest(backend, { version: 1, files: composed })
  return { digest, source, changes, warnings }
}

/** True if all files outside of a part, or all within it, are the same in two deploys. */
export async function isSameSource(
  backend: ApiBackend,
  deploys: readonly (Deploy | null)[],
  isCompared: (part: string | null) => boolean,
): Promise<boolean> {
  const texts = deploys.map(async (deploy) => {
    const files = await sourceFiles(backend, deploy)
    return JSON.stringify(files.filter(({ path }) => isCompared(partOf(path))))
  })
  return new Set(await Promise.all(texts)).size === 1
}

/** Returns the deploy with a digest that a client has read, or null. */
export function committedDeploy({ log }: ApiBackend, group: string, digest: string): Deploy | null {
  const { deploys } = groupOf(log.state, group)
  return deploys.findLast((one) => one.status === 'committed' && one.digest === digest) ?? null
}

async function sourceFiles({ bundles }: ApiBackend, deploy: Deploy | null): Promise<readonly ManifestFile[]> {
  if (deploy?.source == null) return []
  const bundle = await bundles.load(deploy.source)
  if (bundle === null) throw new ControlProblem('GW_CONTROL_NOT_FOUND', 'the source is not stored any more')
  return bundle.manifest.files
}

function sorted(files: readonly ManifestFile[]): ManifestFile[] {
  return [...files].sort((a, b) => (a.path < b.path ? -1 : 1))
}
