import { join } from 'node:path'
import { FetchedFolder } from '../../lib/fetched-folder.mjs'

/** Oldest and newest supported Node.js, and the last pnpm that runs on both. */
const PACKAGES = {
  node20: `npm:node-linux-${process.arch}@20.19.0`,
  node22: `npm:node-linux-${process.arch}@22.23.5`,
  pnpm: '10.34.8',
}

const fetched = new FetchedFolder({
  name: 'release-trial',
  list: import.meta.filename,
  what: 'pnpm, Node.js 20.19 and Node.js 22',
  command: (staging) => [
    ...['npm', 'install', '--prefix', staging, '--ignore-scripts'],
    ...Object.entries(PACKAGES).map(([name, version]) => `${name}@${version}`),
  ],
})

/** Fetches the programs. Returns an error message, or null. */
export function fetchPrograms() {
  return fetched.install()
}

/** Returns a PATH with a version of Node.js and pnpm. */
export function pathWith(node) {
  const modules = join(fetched.path, 'node_modules')
  return [join(modules, node, 'bin'), join(modules, '.bin'), process.env.PATH].join(':')
}
