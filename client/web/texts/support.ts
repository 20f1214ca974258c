import { textCatalog } from './catalog.ts'

export const supportTexts = textCatalog('support', {
  report: {
    title: 'Report a problem',
    category: 'Category',
    description: 'What went wrong?',
    steps: 'Steps to reproduce (optional)',
    files: 'Screenshots and videos',
    addFiles: 'Add screenshots or videos',
    filesChosen: '{count, plural, one {# file selected} other {# files selected}}',
    filesHint: 'Anyone with the link to a file can view it.',
    send: 'Send report',
    sent: 'Thank you. The admins have your report.',
  },
  reports: {
    filter: 'Status',
    list: 'Problem reports',
    empty: 'No reports',
    emptyHint: 'People report problems in their settings.',
    file: 'File {number}',
    from: 'From <who>{name}</who>',
  },
  states: {
    open: 'Open',
    in_progress: 'In progress',
    resolved: 'Resolved',
    closed: 'Closed',
  },
  contact: {
    title: 'Contact',
    hint: 'Your message goes to the team that runs this server. They reply by email.',
    name: 'Your name',
    email: 'Your email address',
    message: 'Message',
    send: 'Send',
  },
})
