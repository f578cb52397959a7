-- needs: css/fire_zone.sql
-- What a move triggers in css (Guam): 6.0, 6.1.3, 6.3, 8.6, 8.6.1, 8.6.2, 12.3, 12.5, 22.3.2, 24.2.
--
-- Opportunity Fire falls on a unit that leaves a hex, so a step of a way is judged by the
-- zones on the hex left, as they are at that moment: a unit that has the mover beside it
-- fires one hex only (7.2). Who lands is fired at on the beach instead, before being there.

create or replace function css._way_steps(
  map_id bigint, qs integer[], rs integer[], in_cave boolean, lands boolean
)
returns table (
  n integer,
  q integer,
  r integer,
  label text,
  inside boolean,
  next_q integer,
  next_r integer,
  next_label text,
  next_inside boolean
)
language plpgsql stable rows 10
as $$
declare
  labels text[] := array(
    select hex.label
    from unnest(qs, rs) with ordinality as way (q, r, n)
    left join public.hex on hex.map_id = _way_steps.map_id and hex.q = way.q and hex.r = way.r
    order by way.n
  );
begin
  next_inside := in_cave;
  for step in 1..coalesce(cardinality(qs), 0) - case when lands then 0 else 1 end loop
    n := step;
    q := qs[step];
    r := rs[step];
    label := labels[step];
    next_q := qs[step + 1];
    next_r := rs[step + 1];
    next_label := labels[step + 1];
    inside := next_inside;
    -- 6.3: the same hex again is through the mouth of its cave; from inside, another hex is the next cave
    next_inside := inside <> coalesce((q, r) = (next_q, next_r), false);
    return next;
    exit when lands;
  end loop;
end
$$;

comment on function css._way_steps(bigint, integer[], integer[], boolean, boolean) is
'The steps of a way: the hex left and the hex entered, and whether inside a cave; of a landing, the beach hex.';

create or replace function css._covers(
  position_id bigint,
  gunner text,
  gunner_q integer,
  gunner_r integer,
  gunner_in_cave boolean,
  reach integer,
  q integer,
  r integer,
  label text,
  inside boolean,
  conditions jsonb,
  policy jsonb
)
returns table (covered boolean, points text[])
language plpgsql stable rows 1
as $$
declare
  away integer := lattice.distance(gunner_q, gunner_r, q, r);
begin
  points := '{}';
  if away = 0 or inside then
    -- 6.3: through the mouth of a cave it is one hex; who is inside is fired at from its own hex only
    covered := away = 0 and inside <> gunner_in_cave and reach > 0;
  elsif away is null or away > reach then
    covered := false;
  elsif away = 1 and not gunner_in_cave then
    covered := true;
  else
    select
      case when bool_or(los.effect = 'visible') then true when bool_or(los.effect = 'blocked') then false end,
      coalesce(array_agg(distinct los.point) filter (where los.point is not null), '{}')
    into covered, points
    from css.los(_covers.position_id, 'unit:' || gunner, 'hex:' || _covers.label, _covers.conditions, _covers.policy) as los;
  end if;
  return next;
end
$$;

comment on function css._covers(
  bigint, text, integer, integer, boolean, integer, integer, integer, text, boolean, jsonb, jsonb
) is
'Whether a hex is in the zone of a unit that fires so far (null: nobody can say), and the points this turns on.';

create or replace function css._watchers(
  position_id bigint,
  side text,
  moving text[],
  qs integer[],
  rs integer[],
  in_cave boolean,
  lands boolean,
  conditions jsonb,
  policy jsonb
)
returns table (
  n integer,
  label text,
  q integer,
  r integer,
  inside boolean,
  code text,
  by_q integer,
  by_r integer,
  by_inside boolean,
  suppressed boolean,
  concentrated boolean,
  -- whether the hex left is in its zone, and whether the hex entered is too
  covered boolean,
  follows boolean,
  -- whether something that is not told would decide it
  untold boolean,
  -- from a cave into the next
  burrows boolean,
  -- contested points that the zone turns on
  points text[]
)
language plpgsql stable rows 20
as $$
declare
  board bigint;
  readings jsonb;
  gunner record;
  step record;
  here record;
  there record;
  reach integer;
begin
  select
    position.map_id,
    positions.readings(position.id, _watchers.policy)
  into board, readings
  from public.position
  where position.id = _watchers.position_id;
  for gunner in
    select armed.*
    from css._armed(_watchers.position_id, null, null, _watchers.moving, readings) as armed
    where armed.side <> _watchers.side
      and armed.q is not null
      and (armed.ready is null or armed.ready > 0 or armed.fire_side like 'indirect, column%')
      -- near enough to matter: nothing is seen farther than 8 (7.1.2)
      and exists (
        select
        from unnest(_watchers.qs, _watchers.rs) as way (q, r)
        where lattice.distance(armed.q, armed.r, way.q, way.r) <= case
          when armed.fire_side like 'indirect, %' then 8 else coalesce(armed.ready, armed.most)
        end
      )
  loop
    for step in
      select way.*
      from css._way_steps(board, _watchers.qs, _watchers.rs, _watchers.in_cave, _watchers.lands) as way
    loop
      reach := coalesce(gunner.ready, gunner.most);
      -- 7.2: the mover itself is the adjacent enemy, once it is there
      if not _watchers.lands and lattice.distance(gunner.q, gunner.r, step.q, step.r) <= 1 then
        reach := least(1, reach);
      end if;
      select * into here
      from css._covers(
        _watchers.position_id, gunner.code, gunner.q, gunner.r, gunner.in_cave, reach,
        step.q, step.r, step.label, step.inside, _watchers.conditions, _watchers.policy
      );
      follows := false;
      points := here.points;
      if here.covered is distinct from false then
        select * into there
        from css._covers(
          _watchers.position_id, gunner.code, gunner.q, gunner.r, gunner.in_cave, reach,
          step.next_q, step.next_r, step.next_label, step.next_inside, _watchers.conditions, _watchers.policy
        );
        follows := there.covered;
        points := points || there.points;
      end if;
      if gunner.fire_side like 'indirect, %'
        and lattice.distance(gunner.q, gunner.r, step.q, step.r) <= greatest(1, gunner.range) then
        points := points || array['css-47'];
      end if;
      if here.covered is distinct from false or points <> '{}' then
        n := step.n;
        label := step.label;
        q := step.q;
        r := step.r;
        inside := step.inside;
        code := gunner.code;
        by_q := gunner.q;
        by_r := gunner.r;
        by_inside := gunner.in_cave;
        suppressed := gunner.suppressed;
        concentrated := gunner.concentrated;
        covered := here.covered is distinct from false;
        untold := gunner.ready is null or here.covered is null;
        burrows := step.inside and step.next_inside;
        return next;
      end if;
    end loop;
  end loop;
end
$$;

comment on function css._watchers(
  bigint, text, text[], integer[], integer[], boolean, boolean, jsonb, jsonb
) is
'Enemies of a mover by the step of its way that they watch: those whose zone the hex left is in.';

create or replace function css._screen(
  position_id bigint, side text, q integer, r integer, inside boolean, moving text[]
)
returns text
language sql stable
return (
  select
    case
      -- 24.2: an Ambush Unit is always Deployed
      when bool_or(friend.kind = 'ambush' or friend.attributes ->> 'posture' = 'deployed') then 'deployed'
      when bool_or(friend.attributes ->> 'posture' is null) then 'untold'
    end
  from public.unit as friend
  where friend.position_id = _screen.position_id
    and friend.side = _screen.side
    and friend.q = _screen.q
    and friend.r = _screen.r
    and css._is_unit(friend.kind)
    and friend.code <> all(_screen.moving)
    and coalesce((friend.attributes ->> 'in_cave')::boolean, false) = _screen.inside
);

comment on function css._screen(bigint, text, integer, integer, boolean, text[]) is
'Whether units that stay behind in a hex screen those that leave it: deployed, untold, or null (8.6).';

create or replace function css._serves(weapon jsonb, gunner jsonb)
returns boolean
language sql immutable parallel safe
return (gunner ->> 'posture' is distinct from 'column' or coalesce(weapon ->> 'target' = 'tank', false))
and coalesce(weapon ->> 'formation' = gunner ->> 'formation', true);

comment on function css._serves(jsonb, jsonb) is
'Whether a unit may use a Support Weapon in its hex: Deployed, unless it is a tank, and of its Formation (12.3, 12.4.1).';

create or replace function css._opportunity(
  suppressed boolean,
  concentrated boolean,
  burrows boolean,
  follows boolean,
  untold boolean,
  screen text,
  -- night, Japanese, and no light on the hex left
  infiltrates boolean,
  reading text,
  spent boolean,
  alert integer
)
returns text
language sql immutable parallel safe
return case
  when burrows then 'burrows'
  when suppressed then 'suppressed'
  when concentrated then 'concentrated'
  when screen = 'deployed' and not follows then 'screened'
  when infiltrates and reading = 'a' and follows then 'infiltrates'
  when infiltrates and reading = 'b' and alert is null then 'infiltrates'
  when spent and alert is null then 'spent'
  when untold or follows is null and screen is not null or screen = 'untold' and not follows then 'untold'
  when spent or (infiltrates and reading = 'b') then 'alert'
  else 'fires'
end;

comment on function css._opportunity(
  boolean, boolean, boolean, boolean, boolean, text, boolean, text, boolean, integer
) is
'Whether an enemy whose zone is left may fire, in one word: fires, alert (on a roll), untold, or why not.';

create or replace function css._triggers(
  position_id bigint,
  unit text,
  qs integer[],
  rs integer[],
  options jsonb default null,
  conditions jsonb default null,
  policy jsonb default null
)
returns table (n integer, rule text, clause text, at text, effect text, note text, point text, by text)
language plpgsql stable rows 10
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  mover record;
  moving text[];
begin
  select
    counter.side,
    coalesce((counter.attributes ->> 'in_cave')::boolean, false) as in_cave,
    counter.q is null and counter.attributes -> 'zone' ->> 'run' = 'final_run_in' as lands,
    counter.side = 'japan'
    and coalesce(_triggers.conditions, position.conditions) ->> 'time' = 'night' as stealthy,
    mark.lit,
    positions.readings(position.id, _triggers.policy) as readings
  into mover
  from public.position
  cross join css._marked(position.id) as mark
  inner join public.unit as counter on counter.position_id = position.id and counter.code = _triggers.unit
  where position.id = _triggers.position_id;
  if mover.side is null then
    raise exception 'there is no unit % in this position', _triggers.unit using errcode = 'no_data_found';
  end if;
  if _triggers.options ->> 'as' = 'advance' then
    return query
    select
      1,
      '8.6',
      null::text,
      hex.label,
      'no opportunity fire',
      'an advance after an assault triggers none',
      null::text,
      null::text
    from public.position
    inner join public.hex
      on hex.map_id = position.map_id and hex.q = _triggers.qs[1] and hex.r = _triggers.rs[1]
    where position.id = _triggers.position_id;
    return;
  end if;
  moving := array[_triggers.unit] || array(
    select jsonb_array_elements_text(_triggers.options -> 'with')
    where jsonb_typeof(_triggers.options -> 'with') = 'array'
  );
  return query
  with watcher as materialized (
    select
      watcher.*,
      mover.stealthy and not coalesce(css._spot(watcher.q, watcher.r) = any(mover.lit), false) as infiltrates,
      css._screen(
        _triggers.position_id, mover.side, watcher.q, watcher.r, watcher.inside, moving
      ) as screen,
      marked.spent,
      marked.sustaining,
      weapon.alert,
      weapon.sustains
    from css._watchers(
      _triggers.position_id, mover.side, moving, _triggers.qs, _triggers.rs, mover.in_cave,
      coalesce(mover.lands, false), _triggers.conditions, _triggers.policy
    ) as watcher
    cross join lateral (
      select
        coalesce(bool_or(marker.kind = 'no_opportunity_fire'), false) as spent,
        coalesce(bool_or(marker.kind = 'sustained_fire'), false) as sustaining
      from public.marker
      where marker.position_id = _triggers.position_id
        and marker.q = watcher.by_q
        and marker.r = watcher.by_r
    ) as marked
    cross join lateral (
      select
        max((weapon.attributes ->> 'alert')::integer) as alert,
        coalesce(
          bool_or((weapon.attributes ->> 'sustained_fire')::boolean and css._serves(weapon.attributes, gunner.attributes)),
          false
        ) as sustains
      from public.unit as weapon
      inner join public.unit as gunner
        on gunner.position_id = weapon.position_id and gunner.code = watcher.code
      where weapon.position_id = _triggers.position_id
        and weapon.q = watcher.by_q
        and weapon.r = watcher.by_r
        and weapon.kind = 'support_weapon'
        and weapon.side <> mover.side
        and coalesce((weapon.attributes ->> 'in_cave')::boolean, false) = watcher.by_inside
    ) as weapon
  ),
  judged as (
    select
      watcher.*,
      css._opportunity(
        watcher.suppressed, watcher.concentrated, watcher.burrows, watcher.follows, watcher.untold,
        -- css-63: whether those ashore screen who lands
        case when not mover.lands or mover.readings ->> 'css-63' = 'b' then watcher.screen end,
        watcher.infiltrates, mover.readings ->> 'css-42', watcher.spent, watcher.alert
      ) as word
    from watcher
    where watcher.covered
  )
  select
    judged.n,
    told.rule,
    null::text,
    judged.label,
    told.effect,
    told.note,
    case
      when judged.infiltrates then told.point
      when mover.lands and judged.screen is not null then 'css-63'
    end,
    judged.code
  from judged
  cross join lateral (
    values
    ('burrows', '6.3', 'no opportunity fire', 'from cave to cave nobody may fire at it', null),
    ('suppressed', '10.2.1', 'no opportunity fire', judged.code || ' is Suppressed', null),
    ('concentrated', '8.3.6', 'no opportunity fire', judged.code || ' has used Concentrated Fire', null),
    (
      'screened', '8.6', 'screened',
      case
        when mover.lands then 'a Deployed unit is on the beach already'
        else format('a Deployed unit stays in the hex, and the next is out of the zone of %s', judged.code)
      end,
      null
    ),
    (
      'infiltrates', case mover.readings ->> 'css-42' when 'a' then '6.1.3' else '8.6.2' end, 'no opportunity fire',
      'at night a Japanese unit slips out of an unlit hex', 'css-42'
    ),
    (
      'spent', '8.6', 'no opportunity fire',
      format('the hex of %s has fired once and bears a No Opportunity Fire marker', judged.code), 'css-42'
    ),
    (
      'untold', '8.6', 'unknown',
      case
        when judged.untold then format('whether the hex is in the zone of %s', judged.code)
        else 'the posture of the units that stay, or whether the next hex is in the same zone'
      end,
      'css-42'
    ),
    (
      'alert', '12.5', 'roll',
      format(
        '%s may fire on a roll of %s or less: alert in spite of %s', judged.code, judged.alert,
        case when judged.spent then 'its No Opportunity Fire marker' else 'the infiltration' end
      ),
      'css-42'
    ),
    (
      'fires', case when mover.lands then '22.3.2' else '8.6' end, 'opportunity fire',
      case
        when mover.lands then format('the beach is in the zone of %s', judged.code)
        when judged.follows then format('from zone to zone of %s', judged.code)
        else format('it leaves the zone of %s', judged.code)
      end,
      'css-42'
    )
  ) as told (word, rule, effect, note, point)
  where told.word = judged.word
  union all
  select
    judged.n,
    told.rule,
    null,
    judged.label,
    told.effect,
    told.note,
    null,
    judged.code
  from judged
  cross join lateral (
    values
    (
      judged.sustains or judged.sustaining, '8.6.1', 'sustained fire',
      format('the hex of %s may go on firing under a Sustained Fire marker', judged.code)
    ),
    (
      mover.stealthy and not judged.infiltrates, '8.6.2', 'lit',
      'an illuminated hex is left, where nobody infiltrates'
    ),
    (
      judged.word = 'fires' and judged.alert is not null, '12.5', 'alert',
      format('on a roll of %s or less the fire of %s has +2', judged.alert, judged.code)
    )
  ) as told (speaks, rule, effect, note)
  where told.speaks
    and judged.word in ('fires', 'alert')
  union all
  select distinct
    watcher.n,
    case touched.point when 'css-47' then '7.2' else '7.1' end,
    null::text,
    watcher.label,
    'contested',
    case touched.point
      when 'css-47' then format('how far the indirect unit %s fires in Column', watcher.code)
      else format('whether %s sees the hex left and the next', watcher.code)
    end,
    touched.point,
    watcher.code
  from watcher
  cross join lateral unnest(watcher.points) as touched (point)
  order by 1, 8, 2;
end
$$;

comment on function css._triggers(bigint, text, integer[], integer[], jsonb, jsonb, jsonb) is
'What a way triggers, step by step: who may fire at the mover, who may not and why, what is rolled for first.';
