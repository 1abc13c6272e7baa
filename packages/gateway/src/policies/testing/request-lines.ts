import net from 'node:net'

/** Returns the head of the response to a raw request line, which no client would send. */
export function answerTo(port: number, target: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(port, '127.0.0.1')
    let text = ''
    socket.setEncoding('latin1')
    socket.on('data', (chunk) => {
      text += chunk
      if (text.includes('\r\n\r\n')) socket.destroy()
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(text))
    const fields = ['host: 127.0.0.1', 'x-forwarded-host: evil.example', 'sec-fetch-mode: navigate']
    socket.write(`GET ${target} HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n`)
  })
}

/** Request targets with which an attacker could redirect a browser after its login. */
export const TARGETS = [
  '//evil.example/',
  '///evil.example/',
  '/\\evil.example/',
  '\\\\evil.example/',
  '@evil.example/',
  '.evil.example/',
  ':80@evil.example/',
  'https:evil.example/',
  'https://evil.example/',
  'http://evil.example/?a=/b',
  'javascript:alert(1)',
  '/\t/evil.example/',
  '/%09/evil.example/',
  '/%0d%0alocation:%20https://evil.example/',
  '/%2f%2fevil.example/',
  '/..//evil.example/',
  '/?a=\t//evil.example',
  '?//evil.example/',
  '#//evil.example/',
  '*',
]
