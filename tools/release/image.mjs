import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { npm, run } from './run.mjs'

/** Builders that take a folder in place of a stage, and the options with which they give the same digest again. */
const BUILDERS = {
  podman: {
    build: (epoch) => ['build', '--format=docker', `--timestamp=${epoch}`],
    save: (tag, file) => ['save', '--format=docker-archive', `--output=${file}`, tag],
  },
  docker: { build: () => ['build'], save: (tag, file) => ['save', `--output=${file}`, tag] },
}

/** Returns the program that can build images on this machine, or null. */
export function imageBuilder() {
  return Object.keys(BUILDERS).find((program) => spawnSync(program, ['info']).status === 0) ?? null
}

/** Builds the image of the tarballs in a folder and saves it in the same folder. Returns its tag. */
export function buildImage(builder, root, out, { version, epoch, revision, base }) {
  const tag = `sluice:${version}`
  const values = {
    VERSION: version,
    REVISION: revision,
    CREATED: new Date(epoch * 1000).toISOString(),
    SOURCE_DATE_EPOCH: epoch,
    ...(base !== undefined && { BUILD_BASE: base, BASE: base }),
  }
  const { build, save } = BUILDERS[builder]
  const options = [
    '--file=deploy/image/Containerfile',
    `--build-context=packed=${out}`,
    `--tag=${tag}`,
    ...Object.entries(values).map(([name, value]) => `--build-arg=${name}=${value}`),
    ...secrets(root),
  ]
  run(builder, [...build(epoch), ...options, '.'], { cwd: root })
  run(builder, save(tag, join(out, `sluice-image-${version}.tar`)), { cwd: root })
  return tag
}

/** Returns the npm configuration and the certificates as build secrets, which are in no layer. */
function secrets(root) {
  const files = {
    npmrc: npm(root, 'config', 'get', 'userconfig').trim(),
    ca: process.env.NODE_EXTRA_CA_CERTS ?? '',
  }
  return Object.entries(files)
    .filter(([, file]) => existsSync(file))
    .map(([id, file]) => `--secret=id=${id},src=${file}`)
}
