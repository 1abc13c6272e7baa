import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { caseEditorSchema, describedCatalog, editorSchema } from '@sluice/config'
import { catalog } from '@sluice/policies'
import { CONSUMERS_FILE } from '../import/draft.js'
import { formatted } from '../import/import.js'
import { Failure, messageOf } from '../output/failure.js'
import { version } from '../output/version.js'
import { type Project, projectFiles, STARTER_CASES, STARTER_DOCUMENT } from './project-files.js'

/** Options for `initProject`. */
export interface InitOptions {
  /** True to overwrite existing files. */
  readonly force?: boolean
  /** OpenAPI description from which the document and the test cases are created. */
  readonly from?: string
  /** Issuer of the bearer tokens, for descriptions that do not name it. */
  readonly issuer?: string
}

/** A project that was created. */
export interface CreatedProject {
  /** Paths of its files, relative to its folder. */
  readonly files: readonly string[]
  /** Lines about parts of the API description that were not mapped. */
  readonly report: readonly string[]
}

/**
 * Creates a gateway project.
 * @throws Failure that lists the files that exist already, unless `force` is set; nothing is written then
 */
export async function initProject(
  directory: string,
  { from, issuer, force = false }: InitOptions,
): Promise<CreatedProject> {
  const imported =
    from === undefined ? null : await (await import('./imported-project.js')).importedProject(from, issuer)
  const project: Project = {
    name: packageName(basename(resolve(directory))),
    version: version(),
    schemas: { document: editorSchema(describedCatalog(catalog, [])), cases: caseEditorSchema() },
    document: imported?.document ?? formatted(STARTER_DOCUMENT),
    cases: imported?.cases ?? STARTER_CASES,
  }
  const files = new Map([...projectFiles(project), ...(imported?.files ?? [])])
  // The description may already be in the folder of the project.
  if (from !== undefined && resolve(from) === resolve(directory, basename(from))) files.delete(basename(from))
  return { files: writeFiles(directory, files, force), report: imported?.report ?? [] }
}

function writeFiles(directory: string, files: ReadonlyMap<string, string>, isForced: boolean): string[] {
  const paths = [...files.keys()]
  const existing = paths.filter((path) => existsSync(join(directory, path)))
  if (existing.length > 0 && !isForced) {
    const list = existing.map((path) => `  ${path}`).join('\n')
    throw new Failure(
      `these files already exist in ${directory}; nothing was written:\n${list}\nremove them, choose another folder, or use --force to overwrite them`,
    )
  }
  try {
    for (const [path, text] of files) {
      const file = join(directory, path)
      mkdirSync(dirname(file), { recursive: true })
      // A file that another process has created since the check is kept.
      const mode = path === CONSUMERS_FILE ? 0o600 : 0o666
      writeFileSync(file, text, { flag: isForced ? 'w' : 'wx', mode })
    }
  } catch (error) {
    throw new Failure(`cannot create the project: ${messageOf(error)}`)
  }
  return paths
}

/** Returns a valid name of an npm package for a folder. */
function packageName(folder: string): string {
  const name = folder
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replaceAll(/^[._-]+|-+$/g, '')
  return name === '' ? 'gateway' : name.slice(0, 200)
}
