import type { agentListTexts as english } from '../agent-list.ts'
import type { TextTranslation } from '../catalog.ts'

export const agentListTexts: TextTranslation<typeof english> = {
  title: 'الوكلاء',
  back: 'العودة إلى الغرف',
  create: 'وكيل جديد',
  own: 'وكلاؤك',
  none: 'لا يوجد وكلاء بعد',
  noneHint: 'يجيب الوكيل بالطريقة التي تحددها له. أنشئ وكيلاً أو اسأل أحد الوكلاء أدناه.',
  make: 'إنشاء وكيل',
  edit: 'تعديل',
  editOne: 'تعديل {name}',
  favorites: 'المفضلة',
  discover: 'استكشاف',
  find: 'البحث عن وكيل',
  filters: {
    all: 'الكل',
    official: 'الرسميون',
    friends: 'من الأصدقاء',
  },
  notFound: 'لا يوجد وكيل يطابق هذه الكلمات',
  nothing: 'لا يوجد وكلاء لاستكشافهم بعد',
  more: 'المزيد',
  noDescription: 'بلا وصف',
  isFavorite: '{name} في المفضلة',
  unfavorite: 'إزالة من المفضلة',
  favorite: 'إضافة إلى المفضلة',
  facts:
    '{by}، {count, plural, zero {# إجابة} one {إجابة واحدة} two {إجابتان} few {# إجابات} many {# إجابة} other {# إجابة}}',
  by: 'من {name}',
  visibility: {
    private: 'أنت فقط',
    friends: 'أصدقاؤك',
    public: 'الجميع',
    official: 'رسمي',
  },
}
