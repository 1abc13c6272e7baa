import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { changelogOf } from './release/changelog.mjs'
import { buildImage, imageBuilder } from './release/image.mjs'
import { packPackages } from './release/pack.mjs'
import { readJson, run } from './release/run.mjs'
import { billOfMaterials } from './release/sbom.mjs'

/**
 * Creates a release: installable tarballs of all packages, a bill of materials, release notes, the image and
 * SHA256SUMS. See docs/internals/release.md. The same commit and options create identical files.
 */
const USAGE = `usage: npm run release [-- OPTIONS]
  --version VERSION   version of the release (default: that of package.json)
  --out DIR           folder for the files (default: data/release)
  --repository URL    public repository, for the packages and their provenance (default: package.json or the git remote)
  --image-base IMAGE  base of the image, with Node.js and npm (default: that of deploy/image/Containerfile)
  --no-image          do not build the image
  --dirty             accept uncommitted changes`
const VERSION = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/
const SUMS = 'SHA256SUMS'

const root = join(import.meta.dirname, '..')
const wrongUsage = (message) => stop(64, `${message}\n${USAGE}`)
const options = parsed()
if (options.help) stop(0, USAGE)
try {
  await release()
} catch (error) {
  stop(1, error.message)
}

async function release() {
  const own = readJson(join(root, 'package.json'))
  const version = options.version ?? own.version
  if (!VERSION.test(version)) wrongUsage(`'${version}' is not a version; use for example 1.4.0 or 1.4.0-rc.1`)
  const out = resolve(options.out ?? join(root, 'data/release'))
  if (!options.dirty && git('status', '--porcelain') !== '')
    stop(1, 'the working tree has uncommitted changes; commit them, or add --dirty for a trial')
  const epoch = Number(process.env.SOURCE_DATE_EPOCH ?? git('log', '-1', '--format=%ct'))
  const date = new Date(epoch * 1000).toISOString().slice(0, 10)
  const { changelog, notes } = changelogOf(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), version, date)
  const repository = options.repository ?? own.repository?.url ?? publicRemote()
  if (repository === null)
    console.error(
      'warning: no public repository: the packages cannot be published with provenance; add --repository',
    )
  emptyFolder(out)
  const names = await packPackages(root, out, { version, repository, changelog }, problemsOf)
  console.log(`packed ${names.length} packages, version ${version}`)
  if (options['no-image']) console.log('image: skipped (--no-image)')
  else image(out, { version, epoch })
  writeFileSync(join(out, `sluice-${version}.cdx.json`), billOfMaterials(root, { version, epoch }))
  writeFileSync(join(out, 'RELEASE-NOTES.md'), notes)
  writeFileSync(join(out, SUMS), checksums(out))
  console.log(`created ${out}`)
}

function image(out, facts) {
  const builder = imageBuilder()
  if (builder === null)
    return console.error('warning: no image: neither podman nor docker works on this machine')
  const tag = buildImage(builder, root, out, {
    ...facts,
    revision: git('rev-parse', 'HEAD'),
    base: options['image-base'],
  })
  console.log(`built the image ${tag}`)
}

/** Returns the findings of publint in a prepared package. */
async function problemsOf(folder) {
  const { messages, pkg } = await publint({ pkgDir: folder, pack: false, level: 'warning' })
  return messages.map((message) => formatMessage(message, pkg, { color: false }))
}

/** Empties the folder of an earlier release. Never deletes other files. */
function emptyFolder(folder) {
  mkdirSync(folder, { recursive: true })
  const files = readdirSync(folder)
  if (files.length > 0 && !existsSync(join(folder, SUMS)))
    stop(1, `${folder} is not empty and contains no release; choose another folder with --out`)
  for (const file of files) rmSync(join(folder, file))
}

/** Returns the checksums of all files, in the format of sha256sum. */
function checksums(folder) {
  return readdirSync(folder)
    .sort()
    .map(
      (file) =>
        `${createHash('sha256')
          .update(readFileSync(join(folder, file)))
          .digest('hex')}  ${file}\n`,
    )
    .join('')
}

/** Returns the address of the git remote for readers without an account, or null if it is not public. */
function publicRemote() {
  const remote = git('config', '--default', '', 'remote.origin.url')
  const [, host, path] =
    /^(?:ssh:\/\/)?(?:git@|https:\/\/)([\w.-]+\.\w+)[:/](.+?)(?:\.git)?$/.exec(remote) ?? []
  return host === undefined ? null : `git+https://${host}/${path}.git`
}

function git(...args) {
  return run('git', args, { cwd: root }).trim()
}

function parsed() {
  const text = { type: 'string' }
  const flag = { type: 'boolean', default: false }
  try {
    return parseArgs({
      options: {
        version: text,
        out: text,
        repository: text,
        'image-base': text,
        'no-image': flag,
        dirty: flag,
        help: flag,
      },
    }).values
  } catch (error) {
    return wrongUsage(error.message)
  }
}

function stop(code, message) {
  console[code === 0 ? 'log' : 'error'](message)
  process.exit(code)
}
