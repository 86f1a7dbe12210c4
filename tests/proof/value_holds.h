/* adamb_value_holds calls the function in front of it: from here on by its contract. */
#define adamb_value_set contract_value_set
