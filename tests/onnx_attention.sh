#!/bin/sh
# The conformance cases of the ONNX operator Attention, where they are at hand.   onnx_attention.sh PROGRAM SOURCE_DIR
folder=${ATTN_DATASETS:-$2/../shared/datasets}/onnx_attention
if [ ! -f "$folder/manifest.json" ]; then
  echo "skipped: no $folder (ATTN_DATASETS names the folder)"
  exit 77
fi
exec "$1" "$folder"
