/** URLs by class of bad input, none of which may be named, asked or shown. Classes that only a look-up tells are tested where one is made. */
export const badUrls: Readonly<Record<string, readonly string[]>> = {
  'none at all': ['', ' ', 'site.test', '/etc/passwd', 'https://', 'https://%', 'https://a b.test/'],
  'an address without its slashes': ['https:site.test', 'https:/site.test', 'https:///site.test', '//site.test/'],
  'another protocol': ['ftp://site.test/', 'gopher://site.test/', 'ws://site.test/', 'file:///etc/passwd'],
  'data or a script': ['data:text/html,hello', 'data:,x', 'javascript:alert(1)'],
  'one with a user or a password': ['https://a@site.test/', 'https://a:b@site.test/', 'https://:b@site.test/'],
  'this machine': ['https://127.0.0.1/', 'https://127.1/', 'https://0/', 'https://0.0.0.0/'],
  'this machine in other digits': [
    'https://2130706433/',
    'https://0x7f.1/',
    'https://0177.0.0.1/',
    'https://①②⑦.0.0.1/',
  ],
  'this machine in other dots': ['https://127。0。0。1/', 'https://127.0.0.1./', 'https://017700000001/'],
  'a private network': ['https://10.1.2.3/', 'https://100.64.0.1/', 'https://172.16.0.1/', 'https://192.168.1.1/'],
  'a network of its own': [
    'https://169.254.169.254/latest',
    'https://198.18.0.1/',
    'https://192.0.2.1/',
    'https://192.0.0.1/',
  ],
  'a group, or a network that is not': ['https://224.0.0.1/', 'https://240.0.0.1/', 'https://255.255.255.255/'],
  'this machine by version 6': [
    'https://[::1]/',
    'https://[::]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::127.0.0.1]/',
  ],
  'a way into version 4': ['https://[64:ff9b::7f00:1]/', 'https://[2002:7f00:1::]/', 'https://[2001::1]/'],
  'a private network of version 6': [
    'https://[fe80::1]/',
    'https://[fc00::1]/',
    'https://[fd00::1]/',
    'https://[fec0::1]/',
  ],
  'a group, or an example, of version 6': ['https://[ff02::1]/', 'https://[2001:db8::1]/'],
  'this machine by name': ['https://localhost/', 'https://localhost./', 'https://LOCALHOST/', 'https://a.localhost./'],
  'a network by name': ['https://intranet/', 'https://printer.local/', 'https://metadata.google.internal/'],
  'a port of something else': [
    'https://site.test:0/',
    'https://site.test:22/',
    'https://site.test:80/',
    'https://site.test:65536/',
  ],
  backslashes: ['https:\\\\site.test', 'https://site.test\\@127.0.0.1/', 'https://127.0.0.1\\.site.test/'],
  'a query or a fragment of 8 kB': [
    `https://site.test/?${'q'.repeat(8_192)}`,
    `https://site.test/#${'f'.repeat(8_192)}`,
  ],
}

/** White space and controls, which parsers take out. */
export const spaced = [
  'https://site\t.test/',
  'https://site.test/\n',
  '\u0000https://site.test/',
  'https://site.test/ a',
]
export const plainHttp = ['http://site.test/', 'http://127.0.0.1/', 'http://localhost:8080/']
