/** Formats that a page shows, by their first bytes: ending, bytes. The order decides. */
const shown = [
  ['png', /^\x89PNG\r\n/],
  ['jpg', /^\xff\xd8\xff/],
  ['gif', /^GIF8[79]a/],
  ['webp', /^RIFF.{4}WEBP/s],
  ['avif', /^.{4}ftypavi[fs]/s],
  ['heic', /^.{4}ftyp(hei[cx]|mif1)/s],
  ['m4a', /^.{4}ftypM4[AB] /s],
  ['mov', /^.{4}ftypqt {2}/s],
  ['mp4', /^.{4}ftyp(isom|iso[2-9]|mp4[12]|avc1|dash|M4V |MSNV|3g[gp2-9])/s],
  ['webm', /^.E\xdf\xa3.{0,40}webm/s],
  ['ogg', /^OggS/],
  ['mp3', /^(ID3|\xff[\xf2\xf3\xfa\xfb])/],
  ['wav', /^RIFF.{4}WAVE/s],
  ['flac', /^fLaC/],
  ['pdf', /^%PDF-/],
] as const

/** The ending of a file by its first bytes; `bin` for what is only downloaded. */
export const endingOf = (head: string): string => shown.find(([, begins]) => begins.test(head))?.[0] ?? 'bin'

/** Programs of Windows, Linux, macOS, Java and Android, shortcuts of Windows, and scripts with an interpreter. */
const programHeads = [
  ...['MZ', '\x7fELF', '\xfe\xed\xfa\xce', '\xfe\xed\xfa\xcf', '\xce\xfa\xed\xfe', '\xcf\xfa\xed\xfe'],
  ...['\xca\xfe\xba\xbe', '\xca\xfe\xba\xbf', 'dex\n', 'L\0\0\0\x01\x14\x02\0', '#!'],
]
export const isProgram = (head: string): boolean => programHeads.some((one) => head.startsWith(one))

/** Endings of what a system runs, installs or mounts when it is opened. Windows runs `js`, without a browser. */
const programEndings = new Set(
  [
    'exe dll com scr pif cpl sys ocx xll msi msp mst msu msix msixbundle appx appxbundle application appref-ms gadget',
    'bat cmd ps1 psm1 psd1 vb vbs vbe js jse ws wsf wsc wsh sct hta msc chm reg inf scf lnk url library-ms search-ms',
    'settingcontent-ms diagcab iso img vhd vhdx app pkg mpkg dmg command tool terminal workflow scpt fileloc inetloc',
    'webloc desktop run appimage deb rpm snap flatpakref jar jnlp apk xapk aab',
  ].flatMap((line) => line.split(' ')),
)
export const isProgramName = (name: string): boolean =>
  programEndings.has(name.slice(name.lastIndexOf('.') + 1).toLowerCase())
