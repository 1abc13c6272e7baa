import { fileURLToPath } from 'node:url'
import { FetchedFolder } from '../fetched-folder.mjs'

const POM = fileURLToPath(new URL('pom.xml', import.meta.url))

/** The folder with WSS4J and its dependencies. */
export const wss4j = new FetchedFolder({
  name: 'wss4j',
  list: POM,
  what: 'WSS4J (18 MB)',
  command: (folder) => [
    'mvn',
    ...['-B', '-q', '-Dstyle.color=never', '-f', POM, `-Djars.folder=${folder}`],
    'generate-resources',
  ],
})
