-- needs: css/status.sql, css/los.sql, css/points.sql, css/arrivals.sql, lattice/ray.sql
-- Direct fire in css (Guam): 6.2.2, 6.3, 7.2, 8.1 to 8.4, 8.6, 8.8, 9.4, 12.3 to 12.5, 17.0, 22.3.1.
--
-- `css.fire` tells whether a shot may be fired and what its value comes to, an entry for every modifier;
-- `css.fire_result` tells what the die makes of it. A shot is one object, as a procedure asks for it:
-- by, with, at, target, zone, as, concentrated, target_unit, impose, manner (fire or op_fire), charge (the assault
-- marker against which Opportunity Fire is made), alerted, landing (the units that come ashore), read.

drop type if exists css.shot cascade;
create type css.shot as (
  state positions.state,
  said jsonb,
  firer css.piece,
  others css.piece array,
  helpers css.piece array,
  weapon css.piece,
  leader css.piece,
  hero css.piece,
  here css.footing,
  there css.footing,
  targets css.piece array,
  beneath boolean,
  named css.piece,
  target_unit css.piece,
  imposed css.piece array,
  at_sea text,
  flame boolean,
  sustained text
);

comment on type css.shot is
'A shot: who fires with whose help, at whom, and where both stand.';
comment on column css.shot.helpers is 'Weapons, leaders and heroes that are named to help';
comment on column css.shot.there is 'The hex or cave fired at; of a naval zone its beach hex';
comment on column css.shot.targets is 'All enemy counters there, or those of the naval zone that are one target';
comment on column css.shot.beneath is 'Whether enemy Units are in the cave under the hex fired at';
comment on column css.shot.named is 'The Hard Target that is fired at by itself';
comment on column css.shot.target_unit is 'Whose Defense is used; null until somebody has chosen';
comment on column css.shot.imposed is 'Weapons, leaders and heroes of the target whose Defense is added (8.3.1)';
comment on column css.shot.at_sea is 'The run of a naval zone that is fired at';
comment on column css.shot.flame is 'Whether a Flamethrower takes part (8.8)';
comment on column css.shot.sustained is 'A weapon for sustained fire that the firer might use (8.6)';

create or replace function css._texts(list jsonb)
returns text[]
language plpgsql immutable
as $$
begin
  return array(select jsonb_array_elements_text(case when jsonb_typeof(list) = 'array' then list else '[]' end));
end
$$;

comment on function css._texts(jsonb) is
'A list of words as an array; nothing where there is none.';

create or replace function css._at_sea(shot css.shot)
returns css.piece[]
language plpgsql stable
as $$
begin
  -- 22.3.1, css-30: what of a naval zone is one target
  return (
    select coalesce(array_agg(css._piece(unit, null) order by unit.code), '{}')
    from public.unit
    where unit.position_id = (shot.state).position_id
      and unit.side <> (shot.firer).side
      and unit.attributes #>> '{zone,beach}' = (shot.there).label
      and unit.attributes #>> '{zone,run}' = shot.at_sea
      and css._is_unit(unit.kind)
      and case
        when (shot.named).code is not null then unit.code = (shot.named).code
        when (shot.state).readings ->> 'css-30' = 'c' then not coalesce((unit.attributes ->> 'amphibious')::boolean, false)
        else true
      end
  );
end
$$;

comment on function css._at_sea(css.shot) is
'The units of a naval zone that are fired at as one: all, or all but amphibious tanks, or the one that is named (css-30).';

create or replace function css._place_of(state positions.state, said jsonb, named css.piece)
returns positions.counter
language plpgsql stable
as $$
#variable_conflict use_variable
declare
  place positions.counter;
  label text;
begin
  if said ? 'zone' then
    -- a beach by its name, or by its hex
    label := coalesce(
      (select beach.label from css._beach(state.map_id, said #>> '{zone,beach}') as beach limit 1), said #>> '{zone,beach}'
    );
  end if;
  label := coalesce(label, named.label, named.attributes #>> '{zone,beach}', said ->> 'at');
  select ground.q, ground.r into place.q, place.r
  from public.css_ground as ground
  where ground.map_id = state.map_id and ground.label = label;
  if not found then
    select found_one.q, found_one.r, found_one.attributes into place.q, place.r, place.attributes
    from positions.place(state.position_id, said ->> 'at') as found_one;
  end if;
  return place;
end
$$;

comment on function css._place_of(positions.state, jsonb, css.piece) is
'Where a shot goes to: q and r, and the attributes of a unit that was named for its place.';

create or replace function css._aim(shot css.shot)
returns css.shot
language plpgsql stable
as $$
#variable_conflict use_variable
declare
  said constant jsonb := shot.said;
  state constant positions.state := shot.state;
  firer constant css.piece := shot.firer;
  place positions.counter;
  stack css.stack;
  inside boolean;
  piece css.piece;
  targets css.piece[] := '{}';
  beneath boolean := false;
begin
  if said ? 'target' then
    shot.named := css._piece_of(state.position_id, said ->> 'target');
    shot.target_unit := shot.named;
  end if;
  if not said ? 'landing' then
    shot.at_sea := coalesce(said #>> '{zone,run}', (shot.named).attributes #>> '{zone,run}');
  end if;
  place := css._place_of(state, said, shot.named);
  inside := case
    when said ? 'target' then (shot.named).inside
    -- 6.3: in one hex the fire goes through the mouth of the cave
    when place.q = firer.q and place.r = firer.r then not firer.inside
    else coalesce((place.attributes ->> 'in_cave')::boolean, false)
  end;
  shot.there := css._footing(state.position_id, state.map_id, place.q, place.r, inside);
  stack := css._stack(state.position_id, place.q, place.r, (shot.there).label);
  foreach piece in array coalesce(stack.pieces, '{}') loop
    if piece.side <> firer.side and piece.inside = inside then
      targets := targets || piece;
    elsif piece.side <> firer.side and piece.is_unit and not inside then
      beneath := true;
    end if;
  end loop;
  shot.beneath := beneath;
  shot.targets := targets;
  if said ? 'landing' then
    shot.targets := css._pieces_of(state.position_id, css._texts(said -> 'landing'));
  elsif shot.at_sea is not null then
    shot.targets := css._at_sea(shot);
  end if;
  shot.imposed := css._picked(state.position_id, css._listed(said -> 'impose'), stack);
  if said ? 'target_unit' and not said ? 'target' then
    shot.target_unit := (css._picked(state.position_id, jsonb_build_array(said -> 'target_unit'), stack))[1];
  end if;
  return shot;
end
$$;

comment on function css._aim(css.shot) is
'A shot with the place that it goes to, and who is there.';

create or replace function css._listed(list jsonb)
returns jsonb
language sql immutable parallel safe
return case when jsonb_typeof(list) = 'array' then list else '[]' end;

comment on function css._listed(jsonb) is
'A list as it was given; an empty one where there is none.';

create or replace function css._shot(
  position_id bigint, said jsonb, conditions jsonb, policy jsonb
)
returns css.shot
language plpgsql stable
as $$
#variable_conflict use_variable
declare
  shot css.shot;
  state positions.state;
  stack constant css.stack := css._stack_with(position_id, said -> 'by' ->> 0);
  firer constant css.piece := (css._picked(position_id, jsonb_build_array(said -> 'by' -> 0), stack))[1];
  piece css.piece;
begin
  select * into state from positions.state(position_id, conditions, policy);
  shot.state := state;
  shot.said := said;
  shot.firer := firer;
  shot.flame := firer.flame;
  shot.others := css._picked(position_id, css._listed(said -> 'by') - 0, stack);
  shot.helpers := css._picked(position_id, css._listed(said -> 'with'), stack);
  if said ->> 'manner' = 'op_fire' then
    -- 12.5: dogs alert the hex that they are in; they are not the one weapon that helps
    shot.helpers := array(
      select helper
      from unnest(shot.helpers) as helper
      where not helper.attributes ? 'alert'
        or (helper.q, helper.r, helper.inside) is distinct from (firer.q, firer.r, firer.inside)
    );
  end if;
  foreach piece in array shot.others loop
    shot.flame := shot.flame or piece.flame;
  end loop;
  foreach piece in array shot.helpers loop
    case piece.kind
      when 'support_weapon' then shot.weapon := piece;
      when 'leader' then shot.leader := piece;
      when 'hero' then shot.hero := piece;
      else null;
    end case;
  end loop;
  shot.flame := shot.flame or coalesce((shot.weapon).flame, false);
  foreach piece in array coalesce(stack.pieces, '{}') loop
    if piece.kind = 'support_weapon' and piece.side = firer.side and piece.inside = firer.inside
      and (piece.attributes ->> 'sustained_fire')::boolean and css._serves(piece.attributes, firer.attributes) then
      shot.sustained := least(shot.sustained, piece.code);
    end if;
  end loop;
  shot.here := css._footing(position_id, state.map_id, firer.q, firer.r, firer.inside);
  return css._aim(shot);
end
$$;

comment on function css._shot(bigint, jsonb, jsonb, jsonb) is
'A shot as it is asked for, with all counters and hexes that it touches.';

create or replace function css._firer_bars(shot css.shot)
returns rulings.ledger_step[]
language plpgsql stable
as $$
declare
  now constant jsonb := (shot.state).conditions;
  here constant css.footing := shot.here;
  firer constant css.piece := shot.firer;
  reacts constant boolean := shot.said ->> 'manner' = 'op_fire';
  concentrated constant boolean := coalesce((shot.said ->> 'concentrated')::boolean, false);
  bars rulings.ledger_step[] := '{}';
begin
  if firer.q is null then
    bars := bars || css._entry('8.2', null, 'forbids', 'it is not on the map', firer.code);
  end if;
  if not firer.is_unit then
    bars := bars || css._entry('2.0', null, 'forbids', 'it is a Marker; a Unit fires', firer.code, null, null, here.label);
  end if;
  if firer.fire is null then
    bars := bars || css._entry('8.1', null, 'forbids', 'its counter shows no Fire Power', firer.code, null, null, here.label);
  end if;
  if firer.fire_type = 'indirect' then
    bars := bars || css._entry('8.7', null, 'forbids', 'it fires indirectly', firer.code, null, null, here.label);
  end if;
  if here.suppressed or firer.suppressed then
    bars := bars || css._entry('10.2.1', null, 'forbids', 'it is Suppressed', firer.code, null, null, here.label);
  end if;
  if firer.attributes ? 'loaded_in' then
    bars := bars || css._entry('15.0', null, 'forbids', 'it is carried by a truck', firer.code, null, null, here.label);
  end if;
  if shot.said ? 'as' then
    bars := bars || css._type_bars(shot);
  end if;
  if reacts or reacts is null then
    return case when reacts then bars || css._reaction_bars(shot) else bars end;
  end if;
  if now -> 'fired' ? here.label then
    -- css-18: its hex fires once, or once in each Action
    if (shot.state).readings ->> 'css-18' = 'b' or not css._is_second(now, firer.code) then
      bars := bars || css._entry(
        '8.2', null, 'forbids', 'its hex has fired in this Activation', firer.code, null, 'css-18', here.label
      );
    end if;
  end if;
  if concentrated and firer.posture = 'column' then
    bars := bars || css._entry(
      '8.3.6', null, 'forbids', 'in Column fire is not concentrated', firer.code, null, null, here.label
    );
  end if;
  if now -> 'fired' ? here.label and css._is_second(now, firer.code) and (shot.state).readings ->> 'css-18' = 'a' then
    bars := bars || css._entry(
      '8.2', null, 'passes', 'its hex fires once in each Action', firer.code, null, 'css-18', here.label
    );
  end if;
  return bars || css._actor_bars(shot.state, firer || shot.others);
end
$$;

create or replace function css._reaction_bars(shot css.shot)
returns rulings.ledger_step[]
language plpgsql stable
as $$
declare
  here constant css.footing := shot.here;
  firer constant css.piece := shot.firer;
  bars rulings.ledger_step[] := '{}';
begin
  if here.concentrated then
    bars := bars || css._entry(
      '8.3.6', null, 'forbids', 'its hex has used Concentrated Fire', firer.code, null, null, here.label
    );
  end if;
  if css._is_active((shot.state).conditions, firer) then
    bars := bars || css._entry('8.6', null, 'forbids', 'it is Active', firer.code, null, null, here.label);
  end if;
  if here.spent and not coalesce((shot.said ->> 'alerted')::boolean, false) then
    bars := bars || css._entry(
      '8.6', null, 'forbids', 'its hex has a No Opportunity Fire marker', firer.code, null, null, here.label
    );
  end if;
  if (shot.said ->> 'concentrated')::boolean then
    bars := bars || css._entry(
      '8.3.6', null, 'forbids', 'Opportunity Fire is never concentrated', firer.code, null, null, here.label
    );
  end if;
  return bars;
end
$$;

comment on function css._reaction_bars(css.shot) is
'What keeps a unit from Opportunity Fire (8.3.6, 8.6).';

comment on function css._firer_bars(css.shot) is
'What keeps a unit from firing: its counter, its markers, what its hex has done (5.1, 8.2, 8.6, 10.2.1).';

create or replace function css._other_bars(shot css.shot)
returns rulings.ledger_step[]
language plpgsql immutable
as $$
declare
  firer constant css.piece := shot.firer;
  other css.piece;
  note text;
  bars rulings.ledger_step[] := '{}';
begin
  foreach other in array shot.others loop
    foreach note in array array[
      case
        when (other.q, other.r, other.inside) is distinct from (firer.q, firer.r, firer.inside)
          then format('%s is not with the firer', other.code)
      end,
      case when not other.is_unit then format('%s is no Unit', other.code) end,
      case when firer.posture = 'column' then 'a firer in Column is helped by nobody' end,
      case when other.posture = 'column' then format('%s is in Column', other.code) end,
      case
        when other.fire_type = 'indirect' or other.fire is null then format('%s does not fire directly', other.code)
      end,
      case
        when other.range < firer.range then format('the range of %s is shorter than the firer''s', other.code)
      end
    ] loop
      if note is not null then
        bars := bars || css._entry('8.3.4', null, 'forbids', note, other.code, null, null, (shot.here).label);
      end if;
    end loop;
  end loop;
  if cardinality(shot.others) > 2 then
    bars := bars || css._entry('8.3.4', null, 'forbids', 'at most two other Units help', firer.code);
  end if;
  return bars;
end
$$;

comment on function css._other_bars(css.shot) is
'What keeps other units of the hex from adding to a shot (8.3.4).';

create or replace function css._helper_bars(shot css.shot)
returns rulings.ledger_step[]
language plpgsql immutable
as $$
declare
  firer constant css.piece := shot.firer;
  helper css.piece;
  anywhere boolean;
  kinds text[] := '{}';
  twice text[] := '{}';
  kind text;
  bars rulings.ledger_step[] := '{}';
  at constant text := (shot.here).label;
begin
  -- 8.3.2: one of each, of the firer's Formation
  foreach helper in array shot.helpers loop
    anywhere := css._serves_anywhere(helper);
    if helper.kind not in ('support_weapon', 'leader', 'hero') then
      bars := bars || css._entry(
        '8.3.2', null, 'forbids', format('%s is no weapon, leader or hero', helper.code), helper.code, null, null, at
      );
    elsif helper.kind = any(kinds) and helper.kind <> all(twice) then
      twice := twice || helper.kind;
    end if;
    kinds := kinds || helper.kind;
    if (helper.q, helper.r, helper.inside) is distinct from (firer.q, firer.r, firer.inside) and not anywhere then
      bars := bars || css._entry(
        '8.3.2', null, 'forbids', format('%s is not with the firer', helper.code), helper.code, null, null, at
      );
    end if;
    if not css._belongs(firer, helper) and not anywhere then
      bars := bars || css._entry(
        '8.3.2', null, 'forbids', format('%s is of another Formation', helper.code), helper.code, null, null, at
      );
    end if;
    if helper.attributes ->> 'status' = 'eliminated' then
      bars := bars || css._entry(
        '14.1', null, 'forbids', format('%s is out of the game', helper.code), helper.code, null, null, at
      );
    end if;
    if helper.kind = 'support_weapon' and firer.posture = 'column' and not helper.tank then
      bars := bars || css._entry(
        '12.3', null, 'forbids', format('in Column nobody uses %s', helper.code), helper.code, null, null, at
      );
    end if;
    if helper.kind = 'support_weapon' and helper.fire is not null and helper.range < firer.range then
      bars := bars || css._entry(
        '8.3.2', null, 'forbids', format('the range of %s is shorter than the firer''s', helper.code), helper.code, null,
        null, at
      );
    end if;
  end loop;
  foreach kind in array twice loop
    bars := bars || css._entry(
      case kind when 'hero' then '14.0' else '8.3.2' end, null, 'forbids',
      format('one %s helps, not more', replace(kind, '_', ' ')), firer.code
    );
  end loop;
  return bars;
end
$$;

comment on function css._helper_bars(css.shot) is
'What keeps weapons, leaders and heroes from helping a shot (8.3.2, 12.3, 14.0).';

create or replace function css._target_bars(shot css.shot)
returns rulings.ledger_step[]
language plpgsql stable
as $$
declare
  firer constant css.piece := shot.firer;
  there constant css.footing := shot.there;
  named constant css.piece := shot.named;
  target css.piece;
  units integer := 0;
  soft integer := 0;
  hides boolean := false;
  bars rulings.ledger_step[] := '{}';
begin
  foreach target in array shot.targets loop
    if target.is_unit then
      units := units + 1;
      soft := soft + case when target.hard then 0 else 1 end;
      hides := hides
      or (target.posture = 'deployed' and coalesce((target.attributes ->> 'hidden')::boolean, false));
    end if;
  end loop;
  if units = 0 and shot.beneath and shot.at_sea is null then
    bars := bars || css._entry(
      '6.3', null, 'forbids', 'who is inside a cave is fired at from its own hex only', null, null, null, there.label
    );
  end if;
  if units = 0 and not shot.beneath then
    bars := bars || css._entry('8.2', null, 'forbids', 'there is no enemy Unit', null, null, null, there.label);
  end if;
  if there.inside and (firer.q, firer.r) is distinct from (there.q, there.r) then
    bars := bars || css._entry(
      '6.3', null, 'forbids', 'who is inside a cave is fired at from its own hex only', named.code, null, null, there.label
    );
  end if;
  if hides and units = 1 and there.terrain = 'mangrove_swamp' then
    bars := bars || css._entry(
      '6.2.1', null, 'forbids', 'the unit there hides in the mangrove', null, null, null, there.label
    );
  end if;
  if named.code is null and units > 0 and soft = 0 and shot.at_sea is null then
    bars := bars || css._entry(
      '8.2', null, 'forbids', 'only Hard Targets are there: one is to be named', null, null, null, there.label
    );
  end if;
  if named.code is not null then
    bars := bars || css._named_bars(shot);
  end if;
  if shot.at_sea is not null then
    bars := bars || css._zone_target_bars(shot, units);
  end if;
  return bars;
end
$$;

comment on function css._target_bars(css.shot) is
'What keeps a hex, a unit or a naval zone from being fired at (6.2.1, 6.3, 8.2, 12.4.1, 22.3.1).';

create or replace function css._named_bars(shot css.shot)
returns rulings.ledger_step[]
language plpgsql immutable
as $$
declare
  named constant css.piece := shot.named;
  at constant text := (shot.there).label;
  bars rulings.ledger_step[] := '{}';
begin
  if named.kind = 'support_weapon' then
    bars := bars || css._entry(
      '12.4.1', null, 'forbids', 'a Support Weapon is not fired at by itself', named.code, null, null, at
    );
  end if;
  if named.is_unit and not named.hard and shot.at_sea is null then
    bars := bars || css._entry('8.2', null, 'forbids', 'only a Hard Target is fired at by itself', named.code, null, null, at);
  end if;
  if named.side = (shot.firer).side then
    bars := bars || css._entry('8.2', null, 'forbids', 'it is a friend', named.code, null, null, at);
  end if;
  return bars;
end
$$;

comment on function css._named_bars(css.shot) is
'What keeps a unit from being fired at by itself (8.2, 12.4.1).';

create or replace function css._zone_target_bars(shot css.shot, units integer)
returns rulings.ledger_step[]
language plpgsql immutable
as $$
declare
  at constant text := (shot.there).label;
  bars rulings.ledger_step[] := '{}';
begin
  if shot.at_sea = 'transport' then
    bars := bars || css._entry('22.3.1', null, 'forbids', 'nobody fires into a Transport Zone', null, null, null, at);
  end if;
  if (shot.state).readings ->> 'css-30' = 'a' and (shot.named).code is null and units > 1 then
    bars := bars || css._entry(
      '22.1', null, 'forbids', 'each Unit at sea is a target of its own: one is to be named', null, null, 'css-30', at
    );
  end if;
  if (shot.named).code is not null and shot.at_sea is not null and css._is_one_of_many(shot) then
    bars := bars || css._entry(
      '22.3.1', null, 'forbids', 'the Units of a Naval Zone are one target', (shot.named).code, null, 'css-30', at
    );
  end if;
  return bars || css._entry('22.3.1', null, 'target', 'what of a Naval Zone is one target', null, null, 'css-30', at);
end
$$;

comment on function css._zone_target_bars(css.shot, integer) is
'What keeps a naval zone from being fired at, and what of it is one target (22.1, 22.3.1, css-30).';

create or replace function css._is_beset(position_id bigint, piece css.piece)
returns boolean
language plpgsql stable
as $$
begin
  return exists (
    select
    from public.unit as enemy
    where enemy.position_id = _is_beset.position_id
      and enemy.q between piece.q - 1 and piece.q + 1
      and enemy.r between piece.r - 1 and piece.r + 1
      and lattice.distance(enemy.q, enemy.r, piece.q, piece.r) <= 1
      and enemy.side <> piece.side
      and css._is_unit(enemy.kind)
  );
end
$$;

comment on function css._is_beset(bigint, css.piece) is
'Whether an enemy unit stands beside a counter, or on or under it (7.2).';

create or replace function css._zone_bars(shot css.shot)
returns rulings.ledger_step[]
language plpgsql stable
as $$
declare
  state constant positions.state := shot.state;
  firer constant css.piece := shot.firer;
  there constant css.footing := shot.there;
  away constant integer := lattice.distance(firer.q, firer.r, there.q, there.r)
  + case when shot.at_sea is null then 0 else css._naval_hexes(shot.at_sea) end;
  ready integer := css._printed_reach(
    css._fire_side(firer.kind, firer.attributes ->> 'posture', firer.attributes -> 'fire'), firer.range,
    state.readings ->> 'css-47'
  );
  near boolean;
begin
  if ready is null then
    return array[css._entry('8.1', null, 'unknown', 'counters', firer.code)];
  end if;
  -- 7.2: with an enemy beside it, or under a barrage, it fires no farther than one hex
  if away > 1 or away > ready then
    near := (shot.here).barrage is not null or (shot.here).bombarded or css._is_beset(state.position_id, firer);
    ready := case when near then least(ready, 1) else ready end;
  end if;
  if away > ready and away > 0 then
    return array[css._entry(
      case when near then '7.2' else '8.1' end, null, 'forbids',
      format('%s is %s away, and it fires %s', there.label, css._hexes(away), css._hexes(ready)),
      firer.code, null, null, there.label
    )];
  elsif away is distinct from 0 and (away > 1 or firer.inside)
    and not (shot.at_sea is not null and state.readings ->> 'css-64' = 'b') then
    return array(
      select css._entry(
        los.rule, los.clause,
        case los.effect when 'blocked' then 'forbids' else los.effect end,
        case los.effect when 'blocked' then 'it is not seen' else los.note end,
        firer.code, null, los.point, los.at
      )
      from css.los(
        state.position_id, 'unit:' || firer.code, 'hex:' || there.label, state.conditions, state.readings
      ) as los
      where los.point is not null or los.effect in ('visible', 'blocked', 'unknown')
    );
  end if;
  return '{}';
end
$$;

comment on function css._zone_bars(css.shot) is
'Whether the target is in the Fire Zone of the firer: within range, and seen (7.2, 8.1, 22.3.1).';

create or replace function css._crossed(shot css.shot, to_target boolean)
returns text[]
language plpgsql stable
as $$
declare
  own constant css.footing := case when to_target then shot.there else shot.here end;
begin
  -- the sides of the target hex, or of the firer's, that the line of fire crosses
  if coalesce(own.walls, 0) & (css._on_any_side('ridge') | css._on_any_side('steep_slope')) = 0 then
    return '{}';
  end if;
  return (
    select coalesce(array_agg(distinct hexside.kind), '{}')
    from public.hexside
    inner join lattice.ray
      on ray.dq = (shot.there).q - (shot.firer).q and ray.dr = (shot.there).r - (shot.firer).r
    where hexside.map_id = (shot.state).map_id
      and hexside.kind in ('ridge', 'steep_slope')
      and hexside.x between 2 * own.q - 2 and 2 * own.q + 2
      and hexside.y between 2 * own.r - 2 and 2 * own.r + 2
      and (case when to_target then ray.arriving else ray.leaving end)
      & lattice.side_set(hexside.x - 2 * (shot.firer).q, hexside.y - 2 * (shot.firer).r) <> b'0'::bit(1089)
      and (
        hexside.kind <> 'steep_slope'
        -- 6.2.2: up the slope: the target lies above the hex across it
        or exists (
          select
          from lattice.side_hexes(hexside.x, hexside.y) as beside
          inner join public.hex as below
            on below.map_id = hexside.map_id
              and (below.q, below.r) in ((beside.q1, beside.r1), (beside.q2, beside.r2))
              and (below.q, below.r) <> ((shot.there).q, (shot.there).r)
          where below.level < (shot.there).level
        )
      )
  );
end
$$;

comment on function css._crossed(css.shot, boolean) is
'Ridges, and steep slopes that rise to the target, over which a shot arrives there, or leaves its own hex.';

create or replace function css._sea_entries(shot css.shot)
returns setof rulings.ledger_step
language sql stable rows 1
as $$
  -- 22.3.1: at sea the value of the zone, and nothing of the Units
  select entry.*
  from (
    select
      max(feature.code) as code,
      coalesce(
        max((feature.attributes ->> shot.at_sea)::integer),
        css._number(css._cell(shot.said -> 'read', 'naval_zone_values', coalesce(max(feature.code), (shot.there).label), shot.at_sea))
      ) as value
    from public.map_feature as feature
    inner join public.map_feature_hex as beach on beach.feature = feature.id
    where feature.map_id = (shot.state).map_id
      and feature.kind = 'beach'
      and (beach.q, beach.r) = ((shot.there).q, (shot.there).r)
  ) as zone
  cross join lateral css._entry(
    '22.3.1', null, case when zone.value is null then 'unknown' else 'adds' end,
    case when zone.value is null then 'naval_zone_values' else 'Hard Target value of the naval zone' end,
    zone.code, 2 * zone.value, null, (shot.there).label
  ) as entry
  where zone.value is distinct from 0
$$;

comment on function css._sea_entries(css.shot) is
'The entry of a shot into a naval zone for its Hard Target value (22.3.1).';

create or replace function css._defense_entries(shot css.shot)
returns rulings.ledger_step[]
language plpgsql stable
as $$
declare
  piece css.piece;
  entries rulings.ledger_step[] := '{}';
begin
  if shot.at_sea is not null then
    return array(select entry from css._sea_entries(shot) as entry);
  end if;
  -- 8.3.1 a: the Defense of the target
  if coalesce((shot.target_unit).defense, 0) <> 0 then
    entries := entries || css._entry(
      '8.3.1', null, 'adds', format('Defense of %s', (shot.target_unit).code), (shot.target_unit).code,
      2 * (shot.target_unit).defense, null, (shot.there).label
    );
  end if;
  foreach piece in array shot.imposed loop
    if coalesce(piece.defense, 0) <> 0 then
      entries := entries || css._entry(
        '8.3.1', null, 'adds', format('Defense of %s', piece.code), piece.code, 2 * piece.defense,
        case when piece.kind = 'support_weapon' then 'css-19' end, (shot.there).label
      );
    end if;
  end loop;
  return entries;
end
$$;

comment on function css._defense_entries(css.shot) is
'Entries of a shot for the Defense of its target: of the target unit and what goes with it, or of the naval zone (8.3.1, 22.3.1).';

create or replace function css._help_entries(shot css.shot)
returns rulings.ledger_step[]
language plpgsql stable
as $$
declare
  piece css.piece;
  value integer;
  entries rulings.ledger_step[] := '{}';
begin
  -- 8.3.2: one weapon, one leader, one hero
  foreach piece in array shot.helpers loop
    value := case when piece.kind = 'support_weapon' then coalesce(piece.fire, 0) else piece.bonus_fire end;
    if value <> 0 then
      entries := entries || css._entry(
        '8.3.2', null, 'adds', format('%s helps', piece.code), piece.code, 2 * value, null, (shot.here).label
      );
    end if;
  end loop;
  -- 8.3.4
  foreach piece in array shot.others loop
    entries := entries || css._entry(
      '8.3.4', null, 'adds', format('%s adds to the fire', piece.code), piece.code, 2, null, (shot.here).label
    );
  end loop;
  -- 8.3.6
  if (shot.said ->> 'concentrated')::boolean then
    entries := entries || css._entry('8.3.6', null, 'adds', 'Concentrated Fire', (shot.firer).code, 2, null, (shot.here).label);
  end if;
  -- 12.5
  if (shot.said ->> 'alerted')::boolean then
    entries := entries || css._entry('12.5', null, 'adds', 'alert dogs', (shot.firer).code, 4, null, (shot.here).label);
  end if;
  return entries;
end
$$;

comment on function css._help_entries(css.shot) is
'Entries of a shot for those who help: weapon, leader, hero, other units, Concentrated Fire, alert dogs (8.3.2, 8.3.4, 8.3.6, 12.5).';

create or replace function css._fire_status_entries(
  here css.footing, firer css.piece, read jsonb, barrage_counts boolean
)
returns rulings.ledger_step[]
language plpgsql stable
as $$
declare
  dg constant text := css._dg_row(greatest(here.dg, firer.dg));
  entries rulings.ledger_step[] := '{}';
  mark text;
begin
  -- 8.3.3, 8.5.4: what lies on the firer
  if dg is not null then
    entries := entries || css._entry(
      '8.3.3', null, 'adds', format('the firer is %s', upper(dg)), dg,
      2 * css._number(css._cell(null, 'status_marker_summary', dg, 'fire')), null, here.label
    );
  end if;
  if here.pinned or firer.pinned then
    entries := entries || css._entry(
      '8.3.3', null, 'adds', 'the firer is PINNED', 'pinned',
      2 * css._number(css._cell(null, 'status_marker_summary', 'pinned', 'fire')), null, here.label
    );
  end if;
  if here.barrage is not null then
    mark := css._cell(read, 'barrage_marker_effects', here.barrage, 'fire');
    if not barrage_counts then
      entries := entries || css._entry(
        '8.3.3', null, 'passes', 'the barrage of this assault does not count in it', here.barrage, null, null, here.label
      );
    elsif mark is null then
      entries := entries || css._entry(
        '8.3.3', null, 'unknown', 'barrage_marker_effects', here.barrage, null, null, here.label
      );
    elsif css._number(mark) <> 0 then
      entries := entries || css._entry(
        '8.3.3', null, 'adds', format('a %s on the firer', replace(here.barrage, '_', ' ')), here.barrage,
        2 * css._number(mark), null, here.label
      );
    end if;
  end if;
  if here.drink is not null and firer.side = 'us' then
    mark := css._cell(read, 'hidden_markers', here.drink, 'fire');
    if mark is null then
      entries := entries || css._entry('29.1', null, 'unknown', 'hidden_markers', here.drink, null, null, here.label);
    elsif css._number(mark) <> 0 then
      entries := entries || css._entry(
        '29.1', null, 'adds', format('the firer is %s', here.drink), here.drink, 2 * css._number(mark), null, here.label
      );
    end if;
  end if;
  return entries;
end
$$;

comment on function css._fire_status_entries(css.footing, css.piece, jsonb, boolean) is
'Entries of a shot for the markers on the firer: DG, Pinned, a Barrage, drink (8.3.3, 8.5.4, 8.7.4 a, b, 29.1).';

create or replace function css._work_entries(there css.footing, rule text, read jsonb)
returns rulings.ledger_step[]
language plpgsql stable
as $$
declare
  entries rulings.ledger_step[] := '{}';
  work text;
  cell text;
begin
  foreach work in array coalesce(there.works, '{}') loop
    cell := css._cell(read, 'fortification_values', work, 'defense');
    entries := entries || css._entry(
      rule, null,
      case when cell is null then 'unknown' else 'adds' end,
      case when cell is null then 'fortification_values' else format('a %s', work) end,
      work, 2 * css._number(cell), null, there.label
    );
  end loop;
  return entries;
end
$$;

comment on function css._work_entries(css.footing, text, jsonb) is
'Entries for the Fortifications of a hex: their Defense (8.3.3, 8.7.4 f, 9.5, 11.1).';

create or replace function css._ground_entries(shot css.shot)
returns rulings.ledger_step[]
language plpgsql stable
as $$
declare
  there constant css.footing := shot.there;
  arriving constant text[] := css._crossed(shot, true);
  ridge constant boolean := 'ridge' = any(arriving);
  -- 6.2.2: from under the marker over a ridge, its own or the target's
  from_marker constant boolean := (shot.here).ridge and (ridge or 'ridge' = any(css._crossed(shot, false)));
  entries rulings.ledger_step[] := '{}';
begin
  if not there.inside and there.defense is null then
    entries := entries || css._entry('8.3.5', null, 'unknown', 'terrain_effects_chart', null, null, null, there.label);
  elsif not there.inside and there.defense <> 0 then
    entries := entries || css._entry(
      '8.3.5', null, 'adds', format('terrain: %s', replace(there.terrain, '_', ' ')), null, 2 * there.defense, null, there.label
    );
  elsif there.inside and shot.flame then
    entries := entries || css._entry('6.3', null, 'passes', 'a Flamethrower reaches into the cave', null, null, null, there.label);
  elsif there.inside then
    entries := entries || css._entry(
      '6.3', null, 'adds', 'inside a cave', null,
      2 * css._number(css._cell(null, 'fortification_values', 'cave', 'defense')), null, there.label
    );
  end if;
  if 'steep_slope' = any(arriving) then
    entries := entries || css._entry('6.2.2', null, 'adds', 'up a steep slope', null, -4, null, there.label);
  end if;
  if ridge and not from_marker then
    entries := entries || css._entry('6.2.2', null, 'adds', 'across a ridge', null, -2, null, there.label);
  end if;
  if from_marker then
    entries := entries || css._entry(
      '6.2.2', null, 'adds', 'from under a Ridge marker across a ridge', null,
      case (shot.firer).side when 'japan' then 4 else 2 end, null, there.label
    );
  end if;
  if there.ridge and ridge then
    entries := entries || css._entry('6.2.2', null, 'adds', 'the Ridge marker faces the fire', null, -2, null, there.label);
  elsif there.ridge then
    entries := entries || css._entry('6.2.2', null, 'adds', 'the Ridge marker is flanked', null, 4, null, there.label);
  end if;
  return entries;
end
$$;

comment on function css._ground_entries(css.shot) is
'Entries of a shot for ground and hexsides of the target: terrain, cave, slope, ridge and Ridge markers (6.2.2, 6.3, 8.3.5).';

create or replace function css._is_navy(state positions.state, piece css.piece)
returns boolean
language plpgsql stable
as $$
begin
  return coalesce(
    piece.service,
    (
      select position.tracks #>> array['divisions', (piece.allegiance).division, 'service']
      from public.position where position.id = state.position_id
    ),
    lower((piece.allegiance).division),
    ''
  ) = 'navy';
end
$$;

comment on function css._is_navy(positions.state, css.piece) is
'Whether a Japanese Unit is of the Navy: by its counter, its Division''s service, or the Division''s name.';

create or replace function css._weather_entries(state positions.state, firer css.piece, there css.footing)
returns rulings.ledger_step[]
language plpgsql stable
as $$
declare
  entries rulings.ledger_step[] := '{}';
  navy boolean;
  whose text;
begin
  if state.conditions ->> 'weather' = 'rain' then
    entries := entries || css._entry(
      '8.3.7', null, 'adds', 'rain', null, 2 * css._number(css._cell(null, 'weather_effects', 'rain', 'fire'))
    );
  end if;
  -- 8.7.3: into light it is day
  if css._is_night(state.conditions) and not there.lit then
    navy := css._is_navy(state, firer);
    whose := case
      when firer.side = 'us' then 'us_fire'
      -- css-10
      when navy and state.readings ->> 'css-10' = 'b' then 'japanese_navy_fire'
      else 'japanese_army_fire'
    end;
    navy := navy and firer.side = 'japan';
    entries := entries || css._entry(
      case when navy then '17.0' else '8.3.7' end, null, 'adds', 'night', null,
      2 * css._number(css._cell(null, 'night_rules', whose, 'value')), case when navy then 'css-10' end
    );
  end if;
  return entries;
end
$$;

comment on function css._weather_entries(positions.state, css.piece, css.footing) is
'Entries for rain and night; none for night into a lit hex (8.3.7, 8.7.3, 17.0, css-10).';

create or replace function css._hard_entries(shot css.shot)
returns rulings.ledger_step[]
language plpgsql immutable
as $$
declare
  target css.piece;
  code text;
  entries rulings.ledger_step[] := '{}';
begin
  -- 8.3.1 g: any Hard Target in the hex, a tank weapon too (12.4.1)
  foreach target in array shot.targets loop
    if target.hard then
      code := least(code, target.code);
    end if;
  end loop;
  if code is not null and (shot.named).code is null then
    entries := entries || css._entry('8.3.1', null, 'adds', 'Hard Targets in the hex', code, -4, null, (shot.there).label);
  end if;
  return entries;
end
$$;

comment on function css._hard_entries(css.shot) is
'The entry of a shot at a hex with Hard Targets in it (8.3.1).';

create or replace function css._shot_entries(shot css.shot)
returns rulings.ledger_step[]
language plpgsql stable
as $$
declare
  here constant css.footing := shot.here;
  firer constant css.piece := shot.firer;
  charge constant text := shot.said ->> 'charge';
  entries rulings.ledger_step[] := css._defense_entries(shot) || css._help_entries(shot);
  mark text;
begin
  if greatest(here.dg, firer.dg) > 0 or here.pinned or firer.pinned or here.barrage is not null or here.drink is not null then
    entries := entries || css._fire_status_entries(
      here, firer, shot.said -> 'read',
      -- css-61: a Barrage that the assaulters have just laid
      not (shot.said ? 'charge' and (shot.state).readings ->> 'css-61' = 'b')
    );
  end if;
  if shot.said ? 'charge' and here.barrage is not null then
    entries := entries || css._entry(
      '8.7.2', null, 'passes', 'a Barrage on the hex that is assaulted', null, null, 'css-61', here.label
    );
  end if;
  if cardinality((shot.there).works) > 0 and shot.at_sea is null and not shot.said ? 'landing' then
    entries := entries || css._work_entries(shot.there, '8.3.3', shot.said -> 'read');
  end if;
  if shot.at_sea is null then
    entries := entries || css._ground_entries(shot) || css._hard_entries(shot);
  end if;
  if (shot.state).conditions ->> 'weather' = 'rain' or css._is_night((shot.state).conditions) then
    entries := entries || css._weather_entries(shot.state, firer, shot.there);
  end if;
  -- 9.4, 9.6: against who assaults or charges
  if charge is not null then
    mark := css._cell(shot.said -> 'read', 'assault_marker_values', charge, 'defense');
    entries := entries || css._entry(
      '9.4', null, case when mark is null then 'unknown' else 'adds' end,
      case when mark is null then 'assault_marker_values' else format('a %s', replace(charge, '_', ' ')) end,
      charge, 2 * css._number(mark), null, here.label
    );
  end if;
  return entries;
end
$$;

comment on function css._shot_entries(css.shot) is
'Every modifier of a shot, in the order of 8.3.';

create or replace function css._fire_type(shot css.shot)
returns text
language plpgsql immutable
as $$
declare
  own constant text := coalesce((shot.weapon).fire_type, (shot.firer).fire_type);
begin
  return case
    when own <> 'white' then own
    when shot.said ->> 'as' in ('ap', 'armor_piercing') then 'armor_piercing'
    when shot.said ->> 'as' in ('he', 'high_explosive') then 'high_explosive'
    -- 8.1: the firer chooses; at a Hard Target the blue row, at a hex the yellow one
    when (shot.named).code is not null or shot.at_sea is not null then 'armor_piercing'
    else 'high_explosive'
  end;
end
$$;

comment on function css._fire_type(css.shot) is
'The row on which a shot is read: the weapon''s type, else the firer''s; of a white box the one that was chosen (8.1, 8.3.2).';

create or replace function css._type_bars(shot css.shot)
returns rulings.ledger_step[]
language plpgsql immutable
as $$
declare
  fired constant text := css._fire_type(shot);
  said constant text := case
    when shot.said ->> 'as' in ('ap', 'armor_piercing') then 'armor_piercing'
    else 'high_explosive'
  end;
begin
  -- 8.1: only a white box leaves a choice
  return case
    when fired is null or fired = said then '{}'
    else array[css._entry(
      '8.1', null, 'forbids', format('its fire is %s, not %s', replace(fired, '_', ' '), replace(said, '_', ' ')),
      (shot.firer).code, null, null, (shot.here).label
    )]
  end;
end
$$;

comment on function css._type_bars(css.shot) is
'What keeps a shot from being of the type that it is said to be: its box is not white (8.1).';

create or replace function css._shot_options(shot css.shot)
returns jsonb
language plpgsql stable
as $$
declare
  target css.piece;
  deployed text[] := '{}';
  in_column text[] := '{}';
  defenses integer[] := '{}';
  imposable jsonb := '[]';
begin
  if shot.at_sea is not null then
    shot.targets := '{}';
  elsif shot.said ? 'landing' then
    shot.targets := array(select piece from unnest(shot.targets) as piece order by piece.code);
  end if;
  -- 8.3.1, css-60, css-19: who chooses the target unit, and what may be added to its Defense
  foreach target in array shot.targets loop
    if target.is_unit then
      defenses := defenses || coalesce(target.defense, 0);
      if target.posture = 'column' then
        in_column := in_column || target.code;
      else
        deployed := deployed || target.code;
      end if;
    elsif target.kind in ('support_weapon', 'leader', 'hero') and target.defense <> 0
      and ((shot.target_unit).code is null or css._belongs(shot.target_unit, target)) then
      imposable := imposable || jsonb_build_object('id', target.code, 'kind', target.kind);
    end if;
  end loop;
  return jsonb_build_object(
    'target_options', deployed || in_column,
    'target_alike', (defenses[1] = all(defenses)) is not false,
    'target_by', case
      when cardinality(deployed) > 0 or (shot.state).readings ->> 'css-60' = 'b' then 'defender'
      else 'firer'
    end,
    'all_in_column', cardinality(deployed) = 0,
    'imposable', imposable
  );
end
$$;

comment on function css._shot_options(css.shot) is
'What is to be chosen before a shot: whose Defense is used, by whom, and which weapons, leaders and heroes may be added.';

create or replace function css.fire(
  position_id bigint, shot jsonb, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 12
-- the plans take longer to make than to run: they are made once a session
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_variable
declare
  aimed constant css.shot := css._shot(position_id, shot, conditions, policy);
  steps rulings.ledger_step[] := css._shot_bars(aimed);
  bar rulings.ledger_step;
  step rulings.ledger_step;
  halves integer := 0;
  untold boolean := false;
  sum integer;
  value integer;
begin
  foreach step in array steps loop
    if bar.rule is null and step.effect = 'forbids' then
      bar := step;
    end if;
    return next step;
  end loop;
  if bar.rule is null then
    steps := css._entry(
      '3.2', null, 'starts', format('Fire Power of %s', (aimed.firer).code), (aimed.firer).code, 2 * (aimed.firer).fire,
      null, (aimed.here).label
    ) || css._shot_entries(aimed);
    foreach step in array steps loop
      halves := halves + coalesce(step.halves, 0);
      untold := untold or step.effect = 'unknown';
      return next step;
    end loop;
    sum := case when not untold then halves / 2 end;
  end if;
  value := sum;
  if sum > 8 then
    value := case (aimed.state).readings ->> 'css-3' when 'b' then 8 else sum end;
    return next css._entry('9.6.1', null, case when value < sum then 'caps' else 'passes' end,
      format('the value comes to %s', sum), null, null, 'css-3');
  end if;
  return next css._sum(
    coalesce(bar.rule, '8.3'),
    case when bar.rule is not null then 'refused' when value is null then 'open' else 'may fire' end,
    coalesce(bar.note, format('value %s', coalesce(value::text, 'not told'))),
    css._shot_facts(aimed, value) || jsonb_build_object('allowed', bar.rule is null, 'why', bar.note),
    (aimed.there).label
  );
end
$$;

create or replace function css._shot_bars(shot css.shot)
returns rulings.ledger_step[]
language plpgsql stable
as $$
declare
  bars rulings.ledger_step[] := css._firer_bars(shot);
begin
  if cardinality(shot.others) > 0 then
    bars := bars || css._other_bars(shot);
  end if;
  if cardinality(shot.helpers) > 0 then
    bars := bars || css._helper_bars(shot);
  end if;
  bars := bars || css._target_bars(shot);
  if (shot.firer).q is not null and (shot.there).q is not null then
    bars := bars || css._zone_bars(shot);
  end if;
  return bars;
end
$$;

comment on function css._shot_bars(css.shot) is
'What keeps a shot from being fired, and the contested points that this turns on.';

create or replace function css._single_targets(shot css.shot)
returns text[]
language plpgsql stable
as $$
begin
  return array(
    select unit.code
    from public.unit
    where unit.position_id = (shot.state).position_id
      and unit.side <> (shot.firer).side
      and unit.attributes #>> '{zone,beach}' = (shot.there).label
      and unit.attributes #>> '{zone,run}' = shot.at_sea
      and css._is_unit(unit.kind)
      and case (shot.state).readings ->> 'css-30'
        when 'a' then true
        when 'c' then coalesce((unit.attributes ->> 'amphibious')::boolean, false)
        else false
      end
    order by unit.code
  );
end
$$;

comment on function css._single_targets(css.shot) is
'Who of a naval zone may be fired at by itself: what css-30 tells apart (22.3.2).';

create or replace function css._is_one_of_many(shot css.shot)
returns boolean
language plpgsql stable
as $$
declare
  single constant text[] := css._single_targets(shot);
begin
  return (shot.named).code <> all(single) and exists (
    select
    from public.unit
    where unit.position_id = (shot.state).position_id
      and unit.side <> (shot.firer).side
      and unit.attributes #>> '{zone,beach}' = (shot.there).label
      and unit.attributes #>> '{zone,run}' = shot.at_sea
      and css._is_unit(unit.kind)
      and unit.code <> all(single || (shot.named).code)
  );
end
$$;

comment on function css._is_one_of_many(css.shot) is
'Whether the unit that is named at sea is one target with others there, and is not fired at by itself (css-30).';

create or replace function css._shot_facts(shot css.shot, value integer)
returns jsonb
language plpgsql stable
as $$
declare
  target css.piece;
  units text[] := '{}';
  in_column text[] := '{}';
  -- 8.2, 22.3.2: who may be fired at by itself
  apart text[] := '{}';
begin
  foreach target in array shot.targets loop
    if target.is_unit then
      units := units || target.code;
      if target.posture = 'column' then
        in_column := in_column || target.code;
      end if;
      if target.hard then
        apart := apart || target.code;
      end if;
    end if;
  end loop;
  if shot.at_sea is not null then
    apart := css._single_targets(shot);
  elsif shot.said ? 'landing' then
    apart := array(select code from unnest(apart) as code order by code);
  end if;
  return css._shot_options(shot) || jsonb_build_object(
    'value', value,
    'type', css._fire_type(shot),
    'side', (shot.firer).side,
    'enemy', case (shot.firer).side when 'us' then 'japan' else 'us' end,
    'from', (shot.here).label,
    'hex', (shot.there).label,
    'inside', (shot.there).inside,
    'at_sea', shot.at_sea,
    'named', (shot.named).code,
    'target_unit', (shot.target_unit).code,
    'units', units,
    'column', in_column,
    'apart', apart,
    'weapon', case when (shot.weapon).fire is not null then (shot.weapon).code end,
    'serves_once', case when css._serves_once(shot.hero) then (shot.hero).code end,
    'sustained', shot.sustained,
    'sustaining', (shot.here).sustaining,
    'spent', (shot.here).spent,
    'flame', shot.flame,
    'terrain', (shot.there).terrain,
    -- 8.6: whoever is not Active fires for nothing
    'cost', case
      when shot.said ->> 'manner' = 'op_fire' then '{}'
      else css._cost((shot.state).conditions, (shot.firer) || shot.others)
    end
  );
end
$$;

comment on function css._shot_facts(css.shot, integer) is
'What a procedure is told of a shot beside its value.';

comment on function css.fire(bigint, jsonb, jsonb, jsonb) is
'Whether a shot may be fired, and its value: an entry for every modifier, the verdict last (8.2, 8.3).
Its facts have value and type, who chooses the target unit and what may be added, and what the result falls on.';

create or replace function css.fire_result(
  position_id bigint, row_of text, value integer, die integer, read jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 2
as $$
declare
  result text := case
    when die = 9 then 'miss'
    when die = 0 then 'hit'
    when value is null then null
    when die <= value then 'hit'
    else 'miss'
  end;
  code text;
begin
  return next css._entry(
    '8.4', null, coalesce(result, 'open'),
    case
      when die = 9 then 'a 9 always misses'
      when die = 0 then 'a 0 always takes the 0 cell'
      else format('%s against %s', die, coalesce(value::text, 'a value that is not told'))
    end
  );
  if result = 'hit' then
    code := replace(css._cell(read, 'combat_results_table', row_of, die::text), ' ', '');
    if code is null then
      return next css._entry('8.4', null, 'unknown', 'combat_results_table');
    end if;
  end if;
  return next css._sum(
    '8.5', coalesce(result, 'open'), coalesce(code, result, 'not told'),
    jsonb_build_object('result', result, 'crt', code) || css._decoded(code)
  );
end
$$;

create or replace function css._decoded(code text)
returns jsonb
language sql immutable parallel safe
return jsonb_build_object(
  'dg', case
    when code ~* 'DG'
      then coalesce(
        nullif(substring(code from '(?i)(\d+)DG'), '')::integer, nullif(substring(code from '(?i)DG(\d+)'), '')::integer, 1
      )
    else 0
  end,
  'suppressed', coalesce(code ~ '(^|/)S(/|$)', false),
  'pinned', coalesce(code ~ '(^|/)P(/|$)', false),
  'rout', case when code ~ '(^|/)R\**(/|$)' then length(regexp_replace(code, '[^*]', '', 'g')) end,
  'eliminated', coalesce(code ~ '(^|/)E(/|$)', false)
);

comment on function css._decoded(text) is
'A code of the results table by its parts: DGs, Suppressed, stars of a rout check, eliminated (8.5).';

comment on function css.fire_result(bigint, text, integer, integer, jsonb) is
'What a die makes of a shot of this value: hit or miss, and the cell of the results table, as far as it is told (8.4, 8.5).';

create or replace function css.flame(position_id bigint, terrain text, die integer, conditions jsonb default null)
returns setof rulings.ledger_step
language sql stable rows 2
as $$
  -- 8.8: by the die alone, hit or miss; a hot day takes one off
  select entry.*
  from css._entry('8.8', null, '-1', 'a hot day', null, -2) as entry
  where conditions ->> 'weather' = 'hot'
  union all
  select (css._sum(
    '8.8', case when burns.so then 'catches fire' else 'does not burn' end,
    format('%s, on %s', replace(terrain, '_', ' '), die), jsonb_build_object('burns', burns.so)
  )).*
  from (
    select
      die - case when conditions ->> 'weather' = 'hot' then 1 else 0 end <= case
        when terrain in ('sugar_cane', 'brush') then 2
        when terrain in ('buildings', 'town') then 0
        else -2
      end as so
  ) as burns
$$;

comment on function css.flame(bigint, text, integer, jsonb) is
'Whether a hex catches fire from a Flamethrower attack with this die (8.8).';

create or replace function css.fire_chances(position_id bigint, value integer, harms boolean)
returns jsonb
language sql immutable parallel safe
-- 8.4: a 0 always hits and a 9 never; where nobody can be harmed nothing hits
return case
  when not harms then '{"no_effect": "1/1"}'::jsonb
  when value is not null
    then jsonb_build_object(
      'hit', (array['1/10', '1/5', '3/10', '2/5', '1/2', '3/5', '7/10', '4/5', '9/10'])[least(greatest(value, 0), 8) + 1],
      'miss', (array['9/10', '4/5', '7/10', '3/5', '1/2', '2/5', '3/10', '1/5', '1/10'])[least(greatest(value, 0), 8) + 1]
    )
end;

comment on function css.fire_chances(bigint, integer, boolean) is
'The chance of a fire of this value to hit, as fractions in lowest terms; null where the value is not told (8.4).';
