import { join, relative } from 'node:path'
import { type InitOptions, initProject } from '../init/init-project.js'
import { print } from '../output/output.js'

/** Creates a gateway project and prints the next steps. */
export async function init(options: InitOptions, directory = '.'): Promise<void> {
  const files = await initProject(directory, options)
  const folder = relative('.', directory)
  const enter = folder === '' ? [] : [`  cd ${folder}`]
  print(
    ...files.map((file) => `created ${join(directory, file)}`),
    '',
    'Next steps:',
    ...enter,
    '  npm install',
    '  npm run dev     run the gateway, with a live view and mocks for unreachable upstreams',
    '  npm test        run the cases in tests/',
    '  npm run lint    check the document',
  )
}
