// The page of a heatmap.
'use strict';
{
    attn.page(attn.data.title || 'Attention');
}
