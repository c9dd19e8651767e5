# Has modules beside it that Python imports by itself.
# beside: sitecustomize usercustomize
# overlay: ok

import planted
print("nothing was imported")
