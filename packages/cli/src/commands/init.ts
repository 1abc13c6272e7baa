import { join, resolve } from 'node:path'
import { type InitOptions, initProject } from '../init/init-project.js'
import { print, say } from '../output/output.js'

/** Creates a gateway project and prints the next steps. */
export async function init(options: InitOptions, directory = '.'): Promise<void> {
  const { files, report } = await initProject(directory, options)
  for (const line of report) say(line)
  const isHere = resolve(directory) === process.cwd()
  print(
    ...files.map((file) => `created ${join(directory, file)}`),
    '',
    'Next steps:',
    ...(isHere ? [] : [`  cd ${directory}`]),
    '  npm install',
    '  npm run dev     run the gateway, with a live view and mocks for unreachable upstreams',
    '  npm test        run the cases in tests/',
    '  npm run lint    check the document',
  )
}
